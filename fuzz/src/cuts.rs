//! An input of the targets that decode: how the stream is cut, then the stream.

/// Bytes of an input that say how its stream is cut.
const PLAN: usize = 8;

/// A stream, and how it comes.
pub struct Cuts<'a> {
    /// The bytes.
    pub stream: &'a [u8],
    limit: u8,
    lengths: &'a [u8],
}

impl<'a> Cuts<'a> {
    /// Reads an input: a byte for the limit, seven for the lengths of the pieces, the stream.
    pub fn of(input: &'a [u8]) -> Option<Self> {
        let (plan, stream) = input.split_at_checked(PLAN)?;
        let (&limit, lengths) = plan.split_first()?;
        Some(Cuts {
            stream,
            limit,
            lengths,
        })
    }

    /// The largest event that is looked into: one that many events exceed, or none does.
    pub fn limit(&self) -> usize {
        match self.limit {
            b'A'..=b'Z' => 1 << 20,
            small => 3 + usize::from(small), // a byte order mark is not looked for in less
        }
    }

    /// The stream in pieces. Their lengths are the plan's, from 1 to 32 or up to 1024 bytes, over and over.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut lengths = self.lengths.iter().cycle().map(|&byte| match byte {
            0..128 => 1 + usize::from(byte % 32),
            _ => 8 * usize::from(byte - 127),
        });
        let mut rest = self.stream;
        std::iter::from_fn(move || {
            let length = lengths.next()?.min(rest.len());
            let piece;
            (piece, rest) = rest.split_at(length);
            (!piece.is_empty()).then_some(piece)
        })
    }
}
