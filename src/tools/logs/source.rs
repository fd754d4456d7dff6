//! Where the bytes of a log come from: a file or standard input, packed or not.
//!
//! Packed logs are told by their first bytes, so that a rotated log may be called anything and may come through a pipe.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};
use flate2::bufread::MultiGzDecoder;

/// First bytes of a gzip member.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// First bytes of a zstd frame.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// So many bytes tell.
const MAGIC: usize = 4;
/// Read at a time where a decoder reads.
const BUFFER: usize = 256 << 10;

/// The bytes of one log.
pub struct Source {
    /// Its name as it was given.
    pub name: String,
    /// Its bytes, unpacked.
    pub reader: Box<dyn Read + Send>,
    /// Whether it is packed, so that it may be damaged in ways that plain text is not.
    pub packed: bool,
}

impl Source {
    /// Opens the file at `path`, or standard input if that is `-`. `done` counts the bytes that are read of it.
    ///
    /// # Errors
    ///
    /// A sentence that names the file and what to do.
    pub fn open(path: &Path, done: &Arc<AtomicU64>) -> anyhow::Result<Source> {
        if path.as_os_str() == "-" {
            return Source::of("standard input", io::stdin(), done);
        }
        let name = path.display().to_string();
        if path.is_dir() {
            bail!(
                "{name} is a folder; name the log file in it, the one of `dripline proxy --log FILE`"
            );
        }
        let file = File::open(path).with_context(|| {
            format!("cannot read {name}; name a log that `dripline proxy --log FILE` wrote")
        })?;
        Source::of(&name, file, done)
    }

    /// The bytes of `reader`, which is called `name`.
    ///
    /// # Errors
    ///
    /// Reading failed.
    pub fn of(
        name: &str,
        reader: impl Read + Send + 'static,
        done: &Arc<AtomicU64>,
    ) -> anyhow::Result<Source> {
        let mut reader = Counted(reader, Arc::clone(done));
        let mut magic = Vec::with_capacity(MAGIC);
        (&mut reader)
            .take(MAGIC as u64)
            .read_to_end(&mut magic)
            .with_context(|| format!("cannot read {name}"))?;
        let is = |kind: &[u8]| magic.starts_with(kind);
        let (gzip, zstd) = (is(GZIP), is(ZSTD));
        let whole = Cursor::new(magic).chain(reader);
        let buffered = |whole| BufReader::with_capacity(BUFFER, whole);
        let reader: Box<dyn Read + Send> = if gzip {
            Box::new(MultiGzDecoder::new(buffered(whole)))
        } else if zstd {
            Box::new(unzstd(buffered(whole)).with_context(|| format!("cannot read {name}"))?)
        } else {
            Box::new(whole)
        };
        Ok(Source {
            name: name.to_owned(),
            reader,
            packed: gzip || zstd,
        })
    }
}

fn unzstd<R: BufRead>(reader: R) -> io::Result<zstd::Decoder<'static, R>> {
    zstd::Decoder::with_buffer(reader)
}

/// A reader that tells how much was read of it.
struct Counted<R>(R, Arc<AtomicU64>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        self.1.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
