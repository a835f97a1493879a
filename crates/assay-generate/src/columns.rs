//! Columns under construction: texts in one buffer, numbers as they are.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Int32Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// What a column holds.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A whole number, or nothing.
    WholeOrNull,
    /// A decimal of so many digits, so many of them behind the point.
    Decimal(u8, i8),
    /// A text.
    Text,
    /// A text, or nothing.
    TextOrNull,
    /// A date.
    Date,
    /// A date and time.
    Moment,
    /// A date and time, or nothing.
    MomentOrNull,
}

/// Names and kinds of a table's columns, in order.
pub type Columns = &'static [(&'static str, Kind)];

impl Kind {
    fn field(self, name: &str) -> Field {
        let moment = DataType::Timestamp(TimeUnit::Microsecond, None);
        match self {
            Self::Whole => Field::new(name, DataType::Int32, false),
            Self::WholeOrNull => Field::new(name, DataType::Int32, true),
            Self::Decimal(digits, behind) => {
                Field::new(name, DataType::Decimal128(digits, behind), false)
            }
            Self::Text => Field::new(name, DataType::Utf8, false),
            Self::TextOrNull => Field::new(name, DataType::Utf8, true),
            Self::Date => Field::new(name, DataType::Date32, false),
            Self::Moment => Field::new(name, moment, false),
            Self::MomentOrNull => Field::new(name, moment, true),
        }
    }
}

/// The schema of a table.
pub fn schema(columns: Columns) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|(name, kind)| kind.field(name)).collect::<Vec<_>>()))
}

/// Rows of a table: what its columns hold, in their order.
pub fn batch(columns: Columns, arrays: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(schema(columns), arrays).expect("arrays are made in the columns' order")
}

/// Whole numbers.
pub fn whole(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values.map(|value| value as i32)))
}

/// Whole numbers, some of them missing.
pub fn whole_or_null(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.map(|value| value.map(|value| value as i32)).collect::<Int32Array>())
}

/// Decimals from their coefficients.
pub fn decimal((digits, behind): (u8, i8), values: impl Iterator<Item = i64>) -> ArrayRef {
    let plain = Decimal128Array::from_iter_values(values.map(i128::from));
    Arc::new(
        plain
            .with_precision_and_scale(digits, behind)
            .expect("the precision of a column is one that there is"),
    )
}

/// Moments in microseconds since 1970.
pub fn moments(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(values))
}

/// Moments, some of them missing.
pub fn moments_or_null(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<TimestampMicrosecondArray>())
}

/// Days since 1970.
pub fn dates(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(Date32Array::from_iter_values(values))
}

/// A column of texts that stand one after another, from where each of them ends.
///
/// # Panics
///
/// If the bytes are no UTF-8, or an end is within a letter.
pub fn texts(bytes: Vec<u8>, ends: Vec<i32>, nulls: Option<NullBuffer>) -> ArrayRef {
    let offsets = OffsetBuffer::new(ends.into());
    Arc::new(StringArray::try_new(offsets, bytes.into(), nulls).expect("texts of ours are UTF-8"))
}

/// Texts of a column, one after another in one buffer.
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<i32>,
}

impl Texts {
    /// Room for so many texts of such a length.
    pub fn new(rows: usize, length_max: i64) -> Self {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Self { bytes: Vec::with_capacity(rows * length_max as usize), ends }
    }

    /// A text that is given.
    pub fn given(&mut self, text: &str) {
        self.next(text.len()).copy_from_slice(text.as_bytes());
    }

    /// The column.
    pub fn finish(self) -> ArrayRef {
        texts(self.bytes, self.ends, None)
    }

    /// The place of one more text.
    pub fn next(&mut self, length: usize) -> &mut [u8] {
        let begin = self.bytes.len();
        self.bytes.resize(begin + length, 0);
        self.ends.push(self.bytes.len() as i32);
        &mut self.bytes[begin..]
    }
}
