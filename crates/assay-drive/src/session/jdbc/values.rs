//! Values as the bridge sends them: a byte that says of which kind one is, then the value. Numbers
//! are big-endian; texts and bytes have their length in four bytes before them.

use std::borrow::Cow;

use crate::session::value::{Shape, Value};

/// The bridge sends a number with more digits as text.
const SCALE_MAX: i32 = 38;

/// Kinds, by their byte.
pub mod kind {
    #![allow(missing_docs)] // Each is named after what it is.
    pub const NULL: u8 = 0;
    pub const BOOLEAN: u8 = 1;
    pub const LONG: u8 = 2;
    pub const DOUBLE: u8 = 3;
    pub const DECIMAL: u8 = 4;
    pub const DATE: u8 = 5;
    pub const TIMESTAMP: u8 = 6;
    pub const TEXT: u8 = 7;
    pub const BYTES: u8 = 8;
    pub const DIGITS: u8 = 9;
}

/// Which kinds a column was seen to hold: a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen(u16);

impl Seen {
    const fn bit(kind: u8) -> u16 {
        1 << kind
    }

    fn note(&mut self, kind: u8) {
        self.0 |= Self::bit(kind);
    }

    /// Whether whole numbers and others share the column, so that all of them are floating.
    pub const fn is_floating(self) -> bool {
        let present = self.0 & !Self::bit(kind::NULL);
        present == Self::bit(kind::LONG) | Self::bit(kind::DOUBLE)
    }

    /// How the column is kept; `declared` is its type of `java.sql.Types`.
    pub const fn kept_as(self, declared: i32) -> Shape {
        const EXACT: u16 =
            Seen::bit(kind::LONG) | Seen::bit(kind::DECIMAL) | Seen::bit(kind::DIGITS);
        const FLOATING: u16 = Seen::bit(kind::LONG) | Seen::bit(kind::DOUBLE);
        const BOOLEAN: u16 = Seen::bit(kind::BOOLEAN);
        const DATE: u16 = Seen::bit(kind::DATE);
        const TIMESTAMP: u16 = Seen::bit(kind::TIMESTAMP);
        const BYTES: u16 = Seen::bit(kind::BYTES);
        match self.0 & !Self::bit(kind::NULL) {
            0 => declared_as(declared),
            BOOLEAN => Shape::Bool,
            DATE => Shape::Date,
            TIMESTAMP => Shape::Timestamp,
            BYTES => Shape::Bytes,
            present if present & !EXACT == 0 => Shape::Number,
            present if present & !FLOATING == 0 => Shape::Float,
            _ => Shape::Text,
        }
    }
}

/// What a column of nothing but NULL is kept as.
const fn declared_as(declared: i32) -> Shape {
    match declared {
        -7 | 16 => Shape::Bool,
        -6..=-5 | 2..=5 => Shape::Number,
        6..=8 => Shape::Float,
        91 => Shape::Date,
        93 | 2014 => Shape::Timestamp,
        -4..=-2 | 2004 => Shape::Bytes,
        _ => Shape::Text,
    }
}

/// Reads what stands in a message, in its order.
pub struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(size).ok_or("a message that ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "a message that ends too early".into())
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, String> {
        Ok(self.fixed::<1>()?[0])
    }

    /// Four bytes.
    pub fn integer(&mut self) -> Result<i32, String> {
        self.fixed().map(i32::from_be_bytes)
    }

    /// Eight bytes.
    pub fn long(&mut self) -> Result<i64, String> {
        self.fixed().map(i64::from_be_bytes)
    }

    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> Result<&'a [u8], String> {
        let size = self.integer()?;
        self.take(usize::try_from(size).map_err(|_| format!("a value of {size} bytes"))?)
    }

    /// Text with its length before it.
    pub fn text(&mut self) -> Result<Cow<'a, str>, String> {
        self.bytes().map(String::from_utf8_lossy)
    }

    /// The next value and its kind.
    pub fn value(&mut self) -> Result<(u8, Value<'a>), String> {
        let kind = self.byte()?;
        let value = match kind {
            kind::NULL => Value::Null,
            kind::BOOLEAN => Value::Bool(self.byte()? != 0),
            kind::LONG => Value::Exact(self.long()?.into(), 0),
            kind::DOUBLE => Value::Float(f64::from_bits(self.long()?.cast_unsigned())),
            kind::DECIMAL => {
                let scale = self.integer()?;
                if !(0..=SCALE_MAX).contains(&scale) {
                    return Err(format!("a number with {scale} digits behind its point"));
                }
                Value::Exact(i128::from_be_bytes(self.fixed()?), scale)
            }
            kind::DATE => Value::Date(self.integer()?),
            kind::TIMESTAMP => Value::Timestamp(self.long()?),
            kind::TEXT => Value::Text(self.bytes()?),
            kind::BYTES => Value::Bytes(self.bytes()?),
            kind::DIGITS => Value::Long(self.text()?.into_owned()),
            other => return Err(format!("a value of the unknown kind {other}")),
        };
        Ok((kind, value))
    }
}

/// The columns of a result, and what they were seen to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Name and type of `java.sql.Types`.
    pub described: Vec<(String, i32)>,
    /// By column.
    pub seen: Vec<Seen>,
}

impl Columns {
    /// Reads a description.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let mut body = Body(body);
        let count = body.integer()?;
        let described = (0..count)
            .map(|_| Ok((body.text()?.into_owned(), body.integer()?)))
            .collect::<Result<Vec<_>, String>>()?;
        Ok(Self { seen: vec![Seen::default(); described.len()], described })
    }

    /// Hands the values of a row to `each`, with the index of their column, and notes their kinds.
    pub fn each_value<'a>(
        &mut self,
        row: &'a [u8],
        mut each: impl FnMut(usize, Value<'a>),
    ) -> Result<(), String> {
        let mut body = Body(row);
        for (index, seen) in self.seen.iter_mut().enumerate() {
            let (kind, value) = body.value()?;
            seen.note(kind);
            each(index, value);
        }
        if body.0.is_empty() { Ok(()) } else { Err("a row with more values than columns".into()) }
    }
}

/// The value as a floating number where its column is one.
pub fn in_column(value: Value<'_>, floating: bool) -> Value<'_> {
    match value {
        Value::Exact(whole, 0) if floating => Value::Float(whole as f64),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn described(names: &[&str]) -> Vec<u8> {
        let mut bytes = (names.len() as i32).to_be_bytes().to_vec();
        for name in names {
            bytes.extend((name.len() as i32).to_be_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend(4_i32.to_be_bytes());
        }
        bytes
    }

    fn row(values: &[(u8, &[u8])]) -> Vec<u8> {
        values.iter().flat_map(|(kind, bytes)| [&[*kind], *bytes].concat()).collect()
    }

    #[test]
    fn values_are_read_by_their_kind() {
        let mut columns = Columns::read(&described(&["a", "b", "c"])).unwrap();
        let decimal = [2_i32.to_be_bytes().as_slice(), &(-1234_i128).to_be_bytes()].concat();
        let bytes =
            row(&[(kind::DECIMAL, &decimal), (kind::NULL, &[]), (kind::TEXT, b"\0\0\0\x01x")]);
        let mut values = Vec::new();
        columns.each_value(&bytes, |_, value| values.push(value)).unwrap();
        assert_eq!(values, [Value::Exact(-1234, 2), Value::Null, Value::Text(b"x")]);
        let kept: Vec<Shape> = columns.seen.iter().map(|seen| seen.kept_as(4)).collect();
        assert_eq!(kept, [Shape::Number, Shape::Number, Shape::Text]);
    }

    #[test]
    fn whole_numbers_beside_fractions_are_floating() {
        let mut seen = Seen::default();
        seen.note(kind::LONG);
        assert!(!seen.is_floating());
        seen.note(kind::DOUBLE);
        seen.note(kind::NULL);
        assert!(seen.is_floating());
        assert_eq!(in_column(Value::Exact(7, 0), true), Value::Float(7.0));
        seen.note(kind::TEXT);
        assert_eq!(seen.kept_as(4), Shape::Text);
    }

    #[test]
    fn a_row_that_does_not_fit_its_description_is_an_error() {
        let mut columns = Columns::read(&described(&["a"])).unwrap();
        assert!(columns.each_value(&row(&[(kind::NULL, &[])]), |_, _| {}).is_ok());
        for wrong in [&[][..], &[99], &[0, 0], &[kind::LONG, 1], &[kind::TEXT, 0, 0, 0, 9, 1]] {
            assert!(columns.each_value(wrong, |_, _| {}).is_err(), "{wrong:?}");
        }
        for (scale, is_read) in [(-1, false), (0, true), (38, true), (39, false)] {
            let number = [i32::to_be_bytes(scale).as_slice(), &5_i128.to_be_bytes()].concat();
            let row = row(&[(kind::DECIMAL, &number)]);
            assert_eq!(columns.each_value(&row, |_, _| {}).is_ok(), is_read, "{scale}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Columns::read(&bytes);
            let mut columns = Columns::read(&described(&["a", "b"])).unwrap();
            let _ = columns.each_value(&bytes, |_, _| {});
        }
    }
}
