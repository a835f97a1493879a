//! Columns under construction: texts in one buffer, numbers as they are.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use assay_model::SplitMix;
use assay_model::tpcc::uniform;

use super::draws::{fill_alphanumeric, fill_numeric};

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

    /// A text of letters and digits, each as likely, and each length within the bounds, too.
    pub fn alphanumeric(&mut self, random: &mut SplitMix, lengths: (i64, i64)) {
        let length = random_length(random, lengths);
        self.letters(random, length);
    }

    /// A text of so many letters and digits.
    pub fn letters(&mut self, random: &mut SplitMix, length: usize) {
        fill_alphanumeric(random, self.next(length));
    }

    /// A text of letters and digits in which `word` stands somewhere.
    pub fn alphanumeric_with(&mut self, random: &mut SplitMix, lengths: (i64, i64), word: &str) {
        let length = random_length(random, lengths);
        let out = self.next(length);
        fill_alphanumeric(random, out);
        let at = uniform(random, (0, (length - word.len()) as i64)) as usize;
        out[at..at + word.len()].copy_from_slice(word.as_bytes());
    }

    /// A text of so many digits, and what follows them.
    pub fn digits(&mut self, random: &mut SplitMix, length: usize, then: &str) {
        let (drawn, rest) = self.next(length + then.len()).split_at_mut(length);
        fill_numeric(random, drawn);
        rest.copy_from_slice(then.as_bytes());
    }

    /// A text that is given.
    pub fn given(&mut self, text: &str) {
        self.next(text.len()).copy_from_slice(text.as_bytes());
    }

    /// The column.
    pub fn finish(self) -> ArrayRef {
        let offsets = arrow_buffer::OffsetBuffer::new(self.ends.into());
        Arc::new(
            StringArray::try_new(offsets, self.bytes.into(), None)
                .expect("letters and digits are UTF-8"),
        )
    }

    /// The place of one more text.
    fn next(&mut self, length: usize) -> &mut [u8] {
        let begin = self.bytes.len();
        self.bytes.resize(begin + length, 0);
        self.ends.push(self.bytes.len() as i32);
        &mut self.bytes[begin..]
    }
}

fn random_length(random: &mut SplitMix, lengths: (i64, i64)) -> usize {
    uniform(random, lengths) as usize
}
