//! Values between sessions and those who give and take them, whatever the protocol.

use crate::digest::RowDigest;

/// Digits of a number that an `i128` always holds.
const EXACT_DIGITS_MAX: usize = 38;

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

/// A number in digits, with its point where it stands.
pub fn exact(bytes: &[u8]) -> Option<Value<'static>> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut coefficient, mut scale, mut count, mut point) = (0_i128, 0, 0, false);
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                coefficient = coefficient.wrapping_mul(10).wrapping_add((byte - b'0').into());
                scale += i32::from(point);
                count += usize::from(count > 0 || *byte != b'0');
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if digits.len() == usize::from(point) {
        return None;
    }
    if count > EXACT_DIGITS_MAX {
        return Some(Value::Long(String::from_utf8_lossy(bytes).into_owned()));
    }
    Some(Value::Exact(if negative { -coefficient } else { coefficient }, scale))
}

/// `coefficient * 10^-scale` in digits.
pub fn write_decimal(coefficient: i128, scale: usize, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient.unsigned_abs()).as_bytes();
    if coefficient < 0 {
        out.push(b'-');
    }
    let (whole, behind) = digits.split_at(digits.len().saturating_sub(scale));
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    if scale > 0 {
        out.push(b'.');
        out.extend(std::iter::repeat_n(b'0', scale - behind.len()));
        out.extend_from_slice(behind);
    }
}
