//! Values as MySQL sends them: binary for statements that were prepared, text for others.

use std::fmt::Write as _;

use assay_model::civil::days_from_civil;

use super::packets::{Fields, SHORT};
use crate::session::value::{Shape, Value, exact};

const SECONDS_A_DAY: i64 = 86_400;
/// The character set of what has none.
const BINARY: u16 = 63;
const UNSIGNED: u16 = 32;
/// First byte of a value in text that is absent.
const NULL: u8 = 0xfb;
/// Bits before the first column's in the bitmap of a binary row.
const BITMAP_OFFSET: usize = 2;
/// More digits behind the point of a time than there are: it has as many as it needs.
const MICRO_DIGITS: u8 = 6;

/// How the values of a column are sent and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of so many bytes.
    Whole {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether all of them are digits.
        unsigned: bool,
    },
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `decimal`.
    Decimal,
    /// `date`.
    Date,
    /// `datetime` and `timestamp`.
    Timestamp,
    /// `time`, with so many digits behind its point.
    Time(u8),
    /// Text of any length, `enum`, `set` and `json`.
    Text,
    /// What has no character set, and `bit`.
    Bytes,
    /// The type of nothing but NULL.
    Null,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: Kind,
}

impl Column {
    /// Reads a column's definition.
    pub fn read(definition: &[u8]) -> Result<Self, String> {
        let mut fields = Fields(definition);
        // Catalogue, schema, table and the table's own name.
        for _ in 0..4 {
            fields.sized()?;
        }
        let name = String::from_utf8_lossy(fields.sized()?).into_owned();
        fields.sized()?;
        let mut fixed = Fields(fields.sized()?);
        let character_set = fixed.short()?;
        let _length = fixed.long()?;
        let (number, flags, decimals) = (fixed.byte()?, fixed.short()?, fixed.byte()?);
        Ok(Self { name, kind: Kind::of(number, flags, character_set, decimals) })
    }
}

impl Kind {
    /// The kind of a type, by its number in the protocol.
    pub const fn of(number: u8, flags: u16, character_set: u16, decimals: u8) -> Self {
        let unsigned = flags & UNSIGNED != 0;
        match number {
            1 => Self::Whole { bytes: 1, unsigned },
            2 => Self::Whole { bytes: 2, unsigned },
            13 => Self::Whole { bytes: 2, unsigned: true },
            3 | 9 => Self::Whole { bytes: 4, unsigned },
            8 => Self::Whole { bytes: 8, unsigned },
            4 => Self::Float,
            5 => Self::Double,
            0 | 246 => Self::Decimal,
            6 => Self::Null,
            7 | 12 | 17 | 18 => Self::Timestamp,
            10 | 14 => Self::Date,
            11 | 19 => Self::Time(decimals),
            245 => Self::Text,
            16 => Self::Bytes,
            _ if character_set == BINARY => Self::Bytes,
            _ => Self::Text,
        }
    }

    /// What its values are kept as.
    pub const fn shape(self) -> Shape {
        match self {
            Self::Whole { .. } | Self::Decimal => Shape::Number,
            Self::Float | Self::Double => Shape::Float,
            Self::Date => Shape::Date,
            Self::Timestamp => Shape::Timestamp,
            Self::Text | Self::Time(_) | Self::Null => Shape::Text,
            Self::Bytes => Shape::Bytes,
        }
    }

    /// Reads one value that is not null, in binary.
    fn read_binary<'a>(self, fields: &mut Fields<'a>) -> Result<Value<'a>, String> {
        Ok(match self {
            Self::Whole { bytes, unsigned } => {
                let number = match (bytes, unsigned) {
                    (1, false) => i8::from_le_bytes(fields.fixed()?).into(),
                    (1, true) => fields.byte()?.into(),
                    (2, false) => i16::from_le_bytes(fields.fixed()?).into(),
                    (2, true) => fields.short()?.into(),
                    (4, false) => i32::from_le_bytes(fields.fixed()?).into(),
                    (4, true) => fields.long()?.into(),
                    (_, false) => i64::from_le_bytes(fields.fixed()?).into(),
                    (_, true) => u64::from_le_bytes(fields.fixed()?).into(),
                };
                Value::Exact(number, 0)
            }
            Self::Float => Value::Float(f32::from_le_bytes(fields.fixed()?).into()),
            Self::Double => Value::Float(f64::from_le_bytes(fields.fixed()?)),
            Self::Date | Self::Timestamp => binary_time(fields.sized()?, self == Self::Date)?,
            Self::Time(decimals) => Value::Long(binary_duration(fields.sized()?, decimals)?),
            Self::Decimal | Self::Text | Self::Bytes | Self::Null => {
                self.read_text(fields.sized()?)?
            }
        })
    }

    /// Reads one value that is not null, in text.
    fn read_text(self, bytes: &[u8]) -> Result<Value<'_>, String> {
        Ok(match self {
            Self::Whole { .. } | Self::Decimal => {
                exact(bytes).ok_or_else(|| unlike(bytes, "a number"))?
            }
            Self::Float | Self::Double => {
                let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
                Value::Float(number.ok_or_else(|| unlike(bytes, "a number"))?)
            }
            Self::Date | Self::Timestamp => {
                text_time(bytes, self == Self::Date).ok_or_else(|| unlike(bytes, "a time"))?
            }
            Self::Bytes => Value::Bytes(bytes),
            Self::Text | Self::Time(_) | Self::Null => Value::Text(bytes),
        })
    }
}

fn unlike(bytes: &[u8], wanted: &str) -> String {
    format!("{:?} where {wanted} was due", String::from_utf8_lossy(bytes))
}

/// Hands the values of a row to `each`, with the index of their column.
pub fn each_value<'a>(
    row: &'a [u8],
    columns: &[Column],
    binary: bool,
    mut each: impl FnMut(usize, Value<'a>),
) -> Result<(), String> {
    if !binary {
        let mut fields = Fields(row);
        for (index, column) in columns.iter().enumerate() {
            if fields.0.first() == Some(&NULL) {
                fields.byte()?;
                each(index, Value::Null);
            } else {
                each(index, column.kind.read_text(fields.sized()?)?);
            }
        }
        return behind(fields);
    }
    let mut fields = Fields(row.get(1..).ok_or(SHORT)?);
    let nulls = fields.bytes((columns.len() + BITMAP_OFFSET).div_ceil(8))?;
    for (index, column) in columns.iter().enumerate() {
        let bit = index + BITMAP_OFFSET;
        if nulls[bit / 8] & 1 << (bit % 8) != 0 {
            each(index, Value::Null);
        } else {
            each(index, column.kind.read_binary(&mut fields)?);
        }
    }
    behind(fields)
}

fn behind(fields: Fields<'_>) -> Result<(), String> {
    match fields.0.len() {
        0 => Ok(()),
        more => Err(format!("a row with {more} bytes behind its last value")),
    }
}

/// Year, month, day; hour, minute, second; microseconds.
#[derive(Clone, Copy, Default)]
struct Moment {
    date: [u16; 3],
    clock: [u8; 3],
    micros: u32,
}

impl Moment {
    /// What has no day, such as 0000-00-00, is digits.
    fn value(self, date_alone: bool) -> Value<'static> {
        let ([year, month, day], [hour, minute, second]) = (self.date, self.clock);
        let sound = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 0;
        if !sound {
            let mut text = format!("{year:04}-{month:02}-{day:02}");
            if !date_alone {
                let _ = write!(text, " {hour:02}:{minute:02}:{second:02}.{:06}", self.micros);
            }
            return Value::Long(text);
        }
        let days = days_from_civil(year.into(), month.into(), day.into()) as i32;
        if date_alone {
            return Value::Date(days);
        }
        let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
        let micros = (i64::from(days) * SECONDS_A_DAY + seconds) * 1_000_000;
        Value::Timestamp(micros + i64::from(self.micros))
    }
}

/// A date and time in binary: what is zero at its end is left out.
fn binary_time(bytes: &[u8], date_alone: bool) -> Result<Value<'static>, String> {
    if !matches!(bytes.len(), 0 | 4 | 7 | 11) {
        return Err(format!("a time of {} bytes", bytes.len()));
    }
    let (mut fields, mut moment) = (Fields(bytes), Moment::default());
    if bytes.len() >= 4 {
        moment.date = [fields.short()?, fields.byte()?.into(), fields.byte()?.into()];
    }
    if bytes.len() >= 7 {
        moment.clock = fields.fixed()?;
    }
    if bytes.len() == 11 {
        moment.micros = fields.long()?;
    }
    Ok(moment.value(date_alone))
}

/// `[-]hhh:mm:ss[.ffffff]`, as the server prints it.
fn binary_duration(bytes: &[u8], decimals: u8) -> Result<String, String> {
    if !matches!(bytes.len(), 0 | 8 | 12) {
        return Err(format!("a time of day of {} bytes", bytes.len()));
    }
    let (mut fields, mut text, mut micros) = (Fields(bytes), String::new(), 0);
    let (mut hours, mut clock) = (0, [0; 3]);
    if !bytes.is_empty() {
        if fields.byte()? != 0 {
            text.push('-');
        }
        let days = fields.long()?;
        clock = fields.fixed()?;
        hours = u64::from(days) * 24 + u64::from(clock[0]);
    }
    if bytes.len() == 12 {
        micros = fields.long()?;
    }
    let _ = write!(text, "{hours:02}:{:02}:{:02}", clock[1], clock[2]);
    if (1..=MICRO_DIGITS).contains(&decimals) {
        let digits = format!("{micros:06}");
        let _ = write!(text, ".{}", &digits[..usize::from(decimals)]);
    }
    Ok(text)
}

/// `YYYY-MM-DD[ hh:mm:ss[.ffffff]]`.
fn text_time(bytes: &[u8], date_alone: bool) -> Option<Value<'static>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (date, clock) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let (clock, behind) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut moment = Moment::default();
    let mut parts = date.split('-');
    for part in &mut moment.date {
        *part = digits(parts.next()?)?;
    }
    let mut clocks = clock.split(':');
    for part in &mut moment.clock {
        *part = u8::try_from(digits(clocks.next()?)?).ok()?;
    }
    if parts.next().is_some() || clocks.next().is_some() || behind.len() > 6 {
        return None;
    }
    let short = 6 - behind.len() as u32;
    let micros: u32 =
        behind.bytes().all(|byte| byte.is_ascii_digit()).then(|| behind.parse().ok())??;
    moment.micros = micros * 10_u32.pow(short);
    Some(moment.value(date_alone))
}

fn digits(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::civil::civil_from_days;
    use proptest::prelude::*;

    const LONG: Kind = Kind::Whole { bytes: 8, unsigned: false };

    fn binary(kind: Kind, bytes: &[u8]) -> Result<Value<'_>, String> {
        let mut fields = Fields(bytes);
        let value = kind.read_binary(&mut fields)?;
        behind(fields).map(|()| value)
    }

    #[test]
    fn numbers_are_read_by_value() {
        let text = |text: &'static str| Kind::Decimal.read_text(text.as_bytes()).unwrap();
        assert_eq!(text("12.34"), Value::Exact(1234, 2));
        assert_eq!(text("-0.050"), Value::Exact(-50, 3));
        assert_eq!(text("0"), Value::Exact(0, 0));
        let long = "1".repeat(65);
        assert_eq!(Kind::Decimal.read_text(long.as_bytes()), Ok(Value::Long(long.clone())));
        for wrong in ["", "-", ".", "1.2.3", "1e5", "x"] {
            assert!(Kind::Decimal.read_text(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
        let tiny = |unsigned| Kind::Whole { bytes: 1, unsigned };
        assert_eq!(binary(tiny(false), &[0xff]), Ok(Value::Exact(-1, 0)));
        assert_eq!(binary(tiny(true), &[0xff]), Ok(Value::Exact(255, 0)));
        let wide = Kind::Whole { bytes: 8, unsigned: true };
        assert_eq!(binary(wide, &[0xff; 8]), Ok(Value::Exact(u64::MAX.into(), 0)));
        assert_eq!(binary(Kind::Float, &1.5_f32.to_le_bytes()), Ok(Value::Float(1.5)));
    }

    #[test]
    fn times_are_the_same_in_both_forms() {
        let day = Value::Date(19_782);
        assert_eq!(binary(Kind::Date, &[4, 0xe8, 7, 2, 29]), Ok(day.clone()));
        assert_eq!(Kind::Date.read_text(b"2024-02-29"), Ok(day));
        let moment = Value::Timestamp(19_782 * 86_400_000_000 + 3_723_000_004);
        let bytes = [11, 0xe8, 7, 2, 29, 1, 2, 3, 4, 0, 0, 0];
        assert_eq!(binary(Kind::Timestamp, &bytes), Ok(moment.clone()));
        assert_eq!(Kind::Timestamp.read_text(b"2024-02-29 01:02:03.000004"), Ok(moment));
        assert_eq!(Kind::Date.read_text(b"0000-00-00"), Ok(Value::Long("0000-00-00".into())));
        assert_eq!(binary(Kind::Date, &[0]), Ok(Value::Long("0000-00-00".into())));
        let short = [8, 1, 2, 0, 0, 0, 3, 4, 5];
        assert_eq!(binary(Kind::Time(0), &short), Ok(Value::Long("-51:04:05".into())));
        let long = [12, 0, 0, 0, 0, 0, 3, 4, 5, 1, 0, 0, 0];
        assert_eq!(binary(Kind::Time(6), &long), Ok(Value::Long("03:04:05.000001".into())));
        assert!(Kind::Timestamp.read_text(b"2024-02-29 01:02").is_err());
        assert!(binary(Kind::Date, &[3, 0, 0, 0]).is_err());
    }

    #[test]
    fn a_row_says_what_is_absent_in_both_forms() {
        let column = |kind| Column { name: "a".into(), kind };
        let columns = [column(LONG), column(Kind::Text)];
        let read = |row: &'static [u8], binary| {
            let mut values = Vec::new();
            each_value(row, &columns, binary, |_, value| values.push(value)).map(|()| values)
        };
        let whole = vec![Value::Exact(7, 0), Value::Text(b"xy")];
        assert_eq!(read(&[0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, b'x', b'y'], true), Ok(whole.clone()));
        assert_eq!(read(b"\x017\x02xy", false), Ok(whole));
        let absent = vec![Value::Null, Value::Text(b"")];
        assert_eq!(read(&[0, 4, 0], true), Ok(absent.clone()));
        assert_eq!(read(&[0xfb, 0], false), Ok(absent));
        assert!(read(&[0, 4, 0, 0], true).unwrap_err().contains("behind its last value"));
        assert!(read(&[0], true).unwrap_err().contains("ends too early"));
        assert!(read(b"\x017\x02x", false).unwrap_err().contains("ends too early"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            numbers in proptest::collection::vec((any::<u8>(), any::<u16>(), any::<u16>(), any::<u8>()), 0..6),
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            is_binary in any::<bool>(),
        ) {
            let kind = |(number, flags, set, decimals)| Kind::of(number, flags, set, decimals);
            let columns: Vec<Column> = numbers.into_iter()
                .map(|definition| Column { name: String::new(), kind: kind(definition) }).collect();
            let _ = each_value(&bytes, &columns, is_binary, |_, _| {});
            let _ = Column::read(&bytes);
        }

        #[test]
        fn dates_are_read(days in -719_162_i32..2_932_896) {
            let (year, month, day) = civil_from_days(days.into());
            let text = format!("{year:04}-{month:02}-{day:02}");
            prop_assert_eq!(Kind::Date.read_text(text.as_bytes()), Ok(Value::Date(days)));
        }
    }
}
