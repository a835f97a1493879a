//! Values as PostgreSQL sends them: binary where this file knows the type, text elsewhere.

use std::fmt::Write as _;

use crate::session::value::{Shape, Value};

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL's dates begin.
pub(super) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(super) const EPOCH_MICROS: i64 = 946_684_800_000_000;
/// Digits of a number that an `i128` always holds.
const EXACT_DIGITS_MAX: usize = 38;

/// How the values of a column are sent and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `boolean`.
    Bool,
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `oid`.
    Oid,
    /// `real`.
    Float4,
    /// `double precision`.
    Float8,
    /// `numeric`.
    Numeric,
    /// `date`.
    Date,
    /// `timestamp`, with or without time zone.
    Timestamp,
    /// Text of any length.
    Text,
    /// `bytea`.
    Bytes,
    /// Any other type, as the server prints it.
    Other,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: Kind,
}

impl Kind {
    /// The kind of a type, by its number in `pg_type`.
    pub const fn of(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            21 => Self::Int2,
            23 => Self::Int4,
            20 => Self::Int8,
            26 => Self::Oid,
            700 => Self::Float4,
            701 => Self::Float8,
            1700 => Self::Numeric,
            1082 => Self::Date,
            1114 | 1184 => Self::Timestamp,
            18 | 19 | 25 | 1042 | 1043 => Self::Text,
            17 => Self::Bytes,
            _ => Self::Other,
        }
    }

    /// The format that is asked for: 1 is binary, 0 text.
    pub const fn format(self) -> i16 {
        match self {
            Self::Other => 0,
            _ => 1,
        }
    }

    /// What its values are kept as.
    pub const fn shape(self) -> Shape {
        match self {
            Self::Bool => Shape::Bool,
            Self::Int2 | Self::Int4 | Self::Int8 | Self::Oid | Self::Numeric => Shape::Number,
            Self::Float4 | Self::Float8 => Shape::Float,
            Self::Date => Shape::Date,
            Self::Timestamp => Shape::Timestamp,
            Self::Text | Self::Other => Shape::Text,
            Self::Bytes => Shape::Bytes,
        }
    }

    /// Reads one value that is not null.
    pub fn read(self, bytes: &[u8]) -> Result<Value<'_>, String> {
        let value = match self {
            Self::Bool => Value::Bool(fixed::<1>(bytes)?[0] != 0),
            Self::Int2 => Value::Exact(i16::from_be_bytes(fixed(bytes)?).into(), 0),
            Self::Int4 => Value::Exact(i32::from_be_bytes(fixed(bytes)?).into(), 0),
            Self::Int8 => Value::Exact(i64::from_be_bytes(fixed(bytes)?).into(), 0),
            Self::Oid => Value::Exact(u32::from_be_bytes(fixed(bytes)?).into(), 0),
            Self::Float4 => Value::Float(f32::from_be_bytes(fixed(bytes)?).into()),
            Self::Float8 => Value::Float(f64::from_be_bytes(fixed(bytes)?)),
            Self::Numeric => numeric(bytes)?,
            Self::Date => Value::Date(i32::from_be_bytes(fixed(bytes)?).saturating_add(EPOCH_DAYS)),
            Self::Timestamp => {
                Value::Timestamp(i64::from_be_bytes(fixed(bytes)?).saturating_add(EPOCH_MICROS))
            }
            Self::Text | Self::Other => Value::Text(bytes),
            Self::Bytes => Value::Bytes(bytes),
        };
        Ok(value)
    }
}

/// Hands the values of a `DataRow` to `each`, with the index of their column.
pub fn each_value<'a>(
    row: &'a [u8],
    columns: &[Column],
    mut each: impl FnMut(usize, Value<'a>),
) -> Result<(), String> {
    let (count, mut rest) = row.split_at_checked(2).ok_or("a row without a number of values")?;
    let count = usize::from(u16::from_be_bytes([count[0], count[1]]));
    if count != columns.len() {
        return Err(format!("a row of {count} values where {} were described", columns.len()));
    }
    for (index, column) in columns.iter().enumerate() {
        let (size, behind) = rest.split_at_checked(4).ok_or("a row that ends too early")?;
        let size = i32::from_be_bytes(fixed(size)?);
        let Ok(size) = usize::try_from(size) else {
            each(index, Value::Null);
            rest = behind;
            continue;
        };
        let (bytes, behind) = behind.split_at_checked(size).ok_or("a value that ends too early")?;
        match column.kind {
            // Most bytes are text: a value that is made here is not copied out of a result.
            Kind::Text | Kind::Other => each(index, Value::Text(bytes)),
            kind => each(index, kind.read(bytes)?),
        }
        rest = behind;
    }
    Ok(())
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], String> {
    bytes.try_into().map_err(|_| format!("a value of {} bytes where {N} were due", bytes.len()))
}

const NEGATIVE: u16 = 0x4000;
const NOT_A_NUMBER: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

/// `numeric`: groups of four decimal digits, the first of weight `10000^weight`.
fn numeric(bytes: &[u8]) -> Result<Value<'static>, String> {
    let (header, groups) = bytes.split_at_checked(8).ok_or("a numeric without its header")?;
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (count, weight) = (usize::from(short(0)), i32::from(short(2) as i16));
    let (sign, shown) = (short(4), i32::from(short(6)));
    match sign {
        NOT_A_NUMBER => return Ok(Value::Float(f64::NAN)),
        INFINITY => return Ok(Value::Float(f64::INFINITY)),
        NEGATIVE_INFINITY => return Ok(Value::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    if groups.len() != count * 2 {
        return Err(format!("a numeric of {count} groups in {} bytes", groups.len()));
    }
    let groups = groups.chunks_exact(2).map(|group| u16::from_be_bytes([group[0], group[1]]));
    let mut coefficient = Some(0_i128);
    for group in groups.clone() {
        coefficient = coefficient
            .and_then(|sum| sum.checked_mul(10_000))
            .and_then(|sum| sum.checked_add(i128::from(group)));
    }
    // The last group has weight 10000^(weight - count + 1).
    let scale = 4 * (count as i32 - 1 - weight);
    let fits = -scale <= EXACT_DIGITS_MAX as i32 && scale <= 4 * EXACT_DIGITS_MAX as i32;
    match coefficient {
        Some(0) => Ok(Value::Exact(0, 0)),
        Some(coefficient) if fits => {
            if let Some((coefficient, scale)) = trimmed(coefficient, scale) {
                let signed = if sign == NEGATIVE { -coefficient } else { coefficient };
                return Ok(Value::Exact(signed, scale));
            }
            Ok(Value::Long(long(groups, weight, shown, sign == NEGATIVE)))
        }
        _ => Ok(Value::Long(long(groups, weight, shown, sign == NEGATIVE))),
    }
}

/// The same number without trailing zeros behind the point, and with a scale of 0 or more.
fn trimmed(mut coefficient: i128, mut scale: i32) -> Option<(i128, i32)> {
    while scale > 0 && coefficient % 10 == 0 {
        coefficient /= 10;
        scale -= 1;
    }
    if scale < 0 {
        coefficient = coefficient.checked_mul(10_i128.checked_pow(scale.unsigned_abs())?)?;
        scale = 0;
    }
    let digits = coefficient.checked_ilog10().map_or(1, |log| log as usize + 1);
    (digits <= EXACT_DIGITS_MAX).then_some((coefficient, scale))
}

/// The number in digits, as the server would print it.
fn long(groups: impl Iterator<Item = u16>, weight: i32, shown: i32, negative: bool) -> String {
    let mut digits = String::new();
    let groups: Vec<u16> = groups.collect();
    let group = |index: i32| {
        usize::try_from(index).ok().and_then(|index| groups.get(index)).copied().unwrap_or(0)
    };
    for place in (0..=weight.max(0)).rev() {
        let _ = write!(digits, "{:04}", group(weight - place));
    }
    let whole = digits.trim_start_matches('0');
    let mut text = String::from(if negative { "-" } else { "" });
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if shown > 0 {
        let mut behind = String::new();
        for place in 1..=(shown + 3) / 4 {
            let _ = write!(behind, "{:04}", group(weight + place));
        }
        behind.truncate(shown as usize);
        text.push('.');
        text.push_str(&behind);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::RowDigest;
    use proptest::prelude::*;

    fn sent(groups: &[u16], weight: i16, sign: u16, shown: u16) -> Vec<u8> {
        let header = [groups.len() as u16, weight as u16, sign, shown];
        header.iter().chain(groups).flat_map(|short| short.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_are_read_by_value() {
        let read = |bytes: Vec<u8>| numeric(&bytes).unwrap();
        assert_eq!(read(sent(&[], 0, 0, 2)), Value::Exact(0, 0));
        assert_eq!(read(sent(&[12, 3400], 0, 0, 2)), Value::Exact(1234, 2));
        assert_eq!(read(sent(&[1], 1, NEGATIVE, 0)), Value::Exact(-10_000, 0));
        assert_eq!(read(sent(&[5], -1, 0, 4)), Value::Exact(5, 4));
        assert_eq!(read(sent(&[1], 30, 0, 0)), Value::Long(format!("1{}", "0".repeat(120))));
        assert!(matches!(read(sent(&[], 0, NOT_A_NUMBER, 0)), Value::Float(v) if v.is_nan()));
    }

    #[test]
    fn a_number_too_long_for_arithmetic_is_its_digits() {
        let groups = [1234; 12];
        let long = numeric(&sent(&groups, 5, NEGATIVE, 22)).unwrap();
        let text = format!("-{}.{}", "1234".repeat(6), &"1234".repeat(6)[..22]);
        assert_eq!(long, Value::Long(text));
    }

    #[test]
    fn a_row_that_does_not_fit_its_description_is_an_error() {
        let columns = [Column { name: "a".into(), kind: Kind::Int4 }];
        let row = |bytes: &[u8]| each_value(bytes, &columns, |_, _| {});
        assert!(row(&[0, 1, 0, 0, 0, 4, 0, 0, 0, 7]).is_ok());
        assert!(row(&[0, 1, 255, 255, 255, 255]).is_ok());
        assert!(row(&[0, 2]).unwrap_err().contains("were described"));
        assert!(row(&[0, 1, 0, 0, 0, 2, 0, 0]).unwrap_err().contains("of 2 bytes"));
        assert!(row(&[0, 1, 0, 0, 0, 9, 0]).unwrap_err().contains("ends too early"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(kind in 0..13_usize, bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let oids = [16, 21, 23, 20, 26, 700, 701, 1700, 1082, 1114, 25, 17, 9999];
            let _ = Kind::of(oids[kind]).read(&bytes);
        }

        #[test]
        fn groups_give_the_number(groups in proptest::collection::vec(0..10_000_u16, 1..8), weight in -3..8_i16) {
            let read = numeric(&sent(&groups, weight, 0, 0)).unwrap();
            let expected = groups.iter().fold(0_i128, |sum, group| sum * 10_000 + i128::from(*group));
            if let Value::Exact(coefficient, scale) = read {
                let sent_scale = 4 * (groups.len() as i32 - 1 - i32::from(weight));
                let mut digest = [RowDigest::default(), RowDigest::default()];
                digest[0].exact(coefficient, scale);
                digest[1].exact(expected, if expected == 0 { 0 } else { sent_scale });
                digest.iter_mut().for_each(RowDigest::end_row);
                prop_assert_eq!(digest[0].finish(), digest[1].finish());
            } else {
                prop_assert!(false, "{:?}", read);
            }
        }
    }
}
