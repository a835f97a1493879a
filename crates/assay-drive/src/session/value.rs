//! Values between sessions and those who give and take them, whatever the protocol.

use crate::digest::RowDigest;

/// A value that is bound to a place of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<'a> {
    /// Absent.
    Null,
    /// A whole number.
    Integer(i64),
    /// `coefficient * 10^-scale`.
    Decimal(i64, u8),
    /// Text.
    Text(&'a str),
    /// Microseconds since 1970-01-01, of no time zone.
    Timestamp(i64),
}

/// What the values of a column are kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Truth values.
    Bool,
    /// Whole numbers and decimals.
    Number,
    /// Binary floating point.
    Float,
    /// Dates.
    Date,
    /// Times of day on a date.
    Timestamp,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Absent.
    Null,
    /// A truth value.
    Bool(bool),
    /// `coefficient * 10^-scale`.
    Exact(i128, i32),
    /// Binary floating point, and numbers that are not finite.
    Float(f64),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01.
    Timestamp(i64),
    /// Text.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A number with more digits than an `Exact` has, as text.
    Long(String),
}

impl Value<'_> {
    /// Adds the value to a row's digest.
    pub fn digest(&self, digest: &mut RowDigest) {
        match self {
            Self::Null => digest.null(),
            Self::Bool(value) => digest.boolean(*value),
            Self::Exact(coefficient, scale) => digest.exact(*coefficient, *scale),
            Self::Float(value) => digest.float(*value),
            Self::Date(days) => digest.date(*days),
            Self::Timestamp(micros) => digest.timestamp(*micros),
            Self::Text(bytes) | Self::Bytes(bytes) => digest.bytes(bytes),
            Self::Long(text) => digest.bytes(text.as_bytes()),
        }
    }
}
