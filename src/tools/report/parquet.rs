//! A row for each request as Parquet, for DuckDB and its like: the columns of [`columns`](crate::sink::columns), typed.
//!
//! What was not measured is null. Names are as they are: nothing here takes one for a formula. In memory is one group of
//! rows at a time, and some 10 kB about each one that was written, which the file's end lists.
//!
//! Format: <https://parquet.apache.org/docs/file-format/>

mod cells;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::Result;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};
use anyhow::Context;

use super::choice::Choice;
use super::each::each;
use super::file::{Kind, Output};
use crate::observe::record::RequestRecord;
use crate::sink::columns::COLUMNS;
use crate::tools::logs::Unread;
use cells::{Cells, kind};

/// What each such file begins with.
pub const KIND: Kind = Kind {
    name: "Parquet file",
    magic: b"PAR1",
};

/// Rows of a group. Readers share a file out by groups, and are slowed down by small ones
/// (<https://duckdb.org/docs/stable/data/parquet/tips>).
const ROWS: usize = 1 << 16;
/// Bytes of text that a group may have: names may be of any length.
const TEXT: usize = 32 << 20;

/// Writes the records of `logs` that are wanted into the file at `path`. Gives how many they were, and the lines that were
/// none.
///
/// # Errors
///
/// The file cannot be written, or a log cannot be read; the sentence names it.
pub fn file(logs: &[PathBuf], choice: &Choice, path: &Path) -> anyhow::Result<(u64, Unread)> {
    let failed = || format!("cannot write {}", path.display());
    let mut rows = Rows::new(Output::begin(path, KIND)?).with_context(failed)?;
    let mut n = 0;
    let unread = each(logs, choice, |record| {
        n += 1;
        rows.push(&record).with_context(failed)
    })?;
    let output = rows.finish().with_context(failed)?;
    output.finish().with_context(failed)?;
    Ok((n, unread))
}

/// A file that is being written.
pub struct Rows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// The group that is being filled, column by column.
    group: Vec<Cells>,
    rows: usize,
}

impl<W: Write + Send> Rows<W> {
    /// Begins one.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn new(to: W) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        Ok(Rows {
            file: SerializedFileWriter::new(to, schema()?, Arc::new(properties))?,
            group: COLUMNS.iter().map(Cells::of).collect(),
            rows: 0,
        })
    }

    /// Adds a record's row.
    ///
    /// # Errors
    ///
    /// A full group cannot be written.
    pub fn push(&mut self, record: &RequestRecord) -> Result<()> {
        for cells in &mut self.group {
            cells.push(record);
        }
        self.rows += 1;
        let text: usize = self.group.iter().map(Cells::text).sum();
        if self.rows >= ROWS || text >= TEXT {
            self.write()?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.write()?;
        }
        self.file.into_inner()
    }

    fn write(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for cells in &mut self.group {
            // as many columns as the schema has, which is made of the same list
            if let Some(mut column) = group.next_column()? {
                cells.write(&mut column)?;
                column.close()?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn schema() -> Result<TypePtr> {
    let fields: Result<Vec<TypePtr>> = COLUMNS
        .iter()
        .map(|column| Ok(Arc::new(kind(column)?)))
        .collect();
    let schema = Type::group_type_builder("requests").with_fields(fields?);
    Ok(Arc::new(schema.build()?))
}

#[cfg(test)]
mod tests;
