//! One column of a group of rows: its type in the file, and its values until they are written.

use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::writer::SerializedColumnWriter;
use ::parquet::schema::types::Type;
use bytes::Bytes;
use jiff::Timestamp;

use crate::observe::record::RequestRecord;
use crate::sink::columns::{Column, Of};

/// What the file says of a column.
///
/// # Errors
///
/// None that a test would not find: names and types are constants.
pub fn kind(column: &Column) -> Result<Type> {
    let (physical, logical) = match column.of {
        Of::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Of::Time(_) => {
            let utc = LogicalType::timestamp(true, TimeUnit::MICROS);
            (Physical::INT64, Some(utc))
        }
        Of::Number(_) => (Physical::DOUBLE, None),
        // signed, so that the difference of two may be below 0
        Of::Count(_) => (Physical::INT64, None),
        Of::Flag(_) => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

/// The cells of one column.
pub struct Cells {
    of: Of,
    /// For each row 1, or 0 where there is no value.
    present: Vec<i16>,
    values: Values,
}

/// Those that are there.
enum Values {
    /// All text in one piece, and where each ends: names are short and many.
    Text(String, Vec<usize>),
    Whole(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl Cells {
    /// None yet.
    pub fn of(column: &Column) -> Self {
        Cells {
            of: column.of,
            present: Vec::new(),
            values: match column.of {
                Of::Text(_) => Values::Text(String::new(), Vec::new()),
                Of::Time(_) | Of::Count(_) => Values::Whole(Vec::new()),
                Of::Number(_) => Values::Number(Vec::new()),
                Of::Flag(_) => Values::Flag(Vec::new()),
            },
        }
    }

    /// Adds the record's.
    pub fn push(&mut self, record: &RequestRecord) {
        let is_there = match (self.of, &mut self.values) {
            (Of::Text(of), Values::Text(text, ends)) => of(record).map(|more| {
                text.push_str(&more);
                ends.push(text.len());
            }),
            (Of::Time(of), Values::Whole(all)) => {
                let at = of(record).parse().ok();
                at.map(|at: Timestamp| all.push(at.as_microsecond()))
            }
            // no count of a request is past 9e18; what a damaged log says there is no number
            (Of::Count(of), Values::Whole(all)) => {
                let count = of(record).and_then(|count| i64::try_from(count).ok());
                count.map(|count| all.push(count))
            }
            (Of::Number(of), Values::Number(all)) => of(record).map(|number| all.push(number)),
            (Of::Flag(of), Values::Flag(all)) => of(record).map(|flag| all.push(flag)),
            // `of` makes values of the column's own kind
            _ => None,
        };
        self.present.push(i16::from(is_there.is_some()));
    }

    /// Bytes of text.
    pub fn text(&self) -> usize {
        match &self.values {
            Values::Text(text, _) => text.len(),
            _ => 0,
        }
    }

    /// Writes all and forgets them.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let present = &self.present;
        match &mut self.values {
            Values::Text(text, ends) => {
                let text = Bytes::from(std::mem::take(text));
                let mut from = 0;
                let pieces: Vec<ByteArray> = ends
                    .drain(..)
                    .map(|end| text.slice(std::mem::replace(&mut from, end)..end).into())
                    .collect();
                batch::<ByteArrayType>(to, &pieces, present)?;
            }
            Values::Whole(all) => {
                batch::<Int64Type>(to, all, present)?;
                all.clear();
            }
            Values::Number(all) => {
                batch::<DoubleType>(to, all, present)?;
                all.clear();
            }
            Values::Flag(all) => {
                batch::<BoolType>(to, all, present)?;
                all.clear();
            }
        }
        self.present.clear();
        Ok(())
    }
}

fn batch<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    present: &[i16],
) -> Result<()> {
    to.typed::<T>().write_batch(values, Some(present), None)?;
    Ok(())
}
