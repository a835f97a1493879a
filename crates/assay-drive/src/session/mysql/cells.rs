//! Values of Arrow columns as text that MySQL reads: of a line that LOAD DATA takes, or of a value
//! that is bound.

use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use assay_model::civil::civil_from_days;

use crate::session::value::write_decimal;

const MICROS_A_DAY: i64 = 86_400_000_000;

/// A column of a batch, by how its values are written.
pub struct Cells<'a> {
    array: &'a dyn Array,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Whole(Box<dyn Fn(usize) -> i128 + 'a>),
    Long(&'a PrimitiveArray<Int64Type>),
    Int(&'a PrimitiveArray<Int32Type>),
    Float(Box<dyn Fn(usize) -> f64 + 'a>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, usize),
    Date(&'a PrimitiveArray<Date32Type>),
    Timestamp(&'a PrimitiveArray<TimestampMicrosecondType>),
    Text(Box<dyn Fn(usize) -> &'a [u8] + 'a>),
    Bytes(Box<dyn Fn(usize) -> &'a [u8] + 'a>),
}

/// Whether the values of a type are bytes without a character set.
pub const fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The columns of a batch.
///
/// # Errors
/// If a column has a type that is not loaded.
pub fn columns<'a>(batch: &'a RecordBatch, schema: &Schema) -> Result<Vec<Cells<'a>>, String> {
    let named = batch.columns().iter().zip(schema.fields());
    named.map(|(array, field)| Cells::of(array, field.name())).collect()
}

fn whole<T>(array: &ArrayRef) -> Kind<'_>
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128>,
{
    let array = array.as_primitive::<T>();
    Kind::Whole(Box::new(|row| array.value(row).into()))
}

impl<'a> Cells<'a> {
    fn of(array: &'a ArrayRef, name: &str) -> Result<Self, String> {
        let kind = match array.data_type() {
            DataType::Int64 => Kind::Long(array.as_primitive()),
            DataType::Int32 => Kind::Int(array.as_primitive()),
            DataType::Int16 => whole::<Int16Type>(array),
            DataType::Int8 => whole::<Int8Type>(array),
            DataType::UInt64 => whole::<UInt64Type>(array),
            DataType::UInt32 => whole::<UInt32Type>(array),
            DataType::UInt16 => whole::<UInt16Type>(array),
            DataType::UInt8 => whole::<UInt8Type>(array),
            DataType::Boolean => {
                let array = array.as_boolean();
                Kind::Whole(Box::new(|row| array.value(row).into()))
            }
            DataType::Float64 => {
                let array = array.as_primitive::<Float64Type>();
                Kind::Float(Box::new(|row| array.value(row)))
            }
            DataType::Float32 => {
                let array = array.as_primitive::<Float32Type>();
                Kind::Float(Box::new(|row| array.value(row).into()))
            }
            DataType::Decimal128(_, scale) if *scale >= 0 => {
                Kind::Decimal(array.as_primitive(), usize::from(scale.unsigned_abs()))
            }
            DataType::Date32 => Kind::Date(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Kind::Timestamp(array.as_primitive()),
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                Kind::Text(Box::new(|row| array.value(row).as_bytes()))
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                Kind::Text(Box::new(|row| array.value(row).as_bytes()))
            }
            DataType::Utf8View => {
                let array = array.as_string_view();
                Kind::Text(Box::new(|row| array.value(row).as_bytes()))
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                Kind::Bytes(Box::new(|row| array.value(row)))
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Kind::Bytes(Box::new(|row| array.value(row)))
            }
            DataType::BinaryView => {
                let array = array.as_binary_view();
                Kind::Bytes(Box::new(|row| array.value(row)))
            }
            other => return Err(format!("column {name}: {other} is not loaded")),
        };
        Ok(Self { array, kind })
    }

    /// Whether the value is absent.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// Writes a value of a line: escaped, and bytes as hexadecimal digits.
    pub fn write_escaped(&self, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
        if self.is_null(row) {
            out.extend_from_slice(b"\\N");
            return Ok(());
        }
        match &self.kind {
            Kind::Text(text) => escape(text(row), out),
            Kind::Bytes(bytes) => {
                let digits = bytes(row).iter().flat_map(|byte| [byte >> 4, byte & 15]);
                out.extend(digits.map(|digit| b"0123456789abcdef"[usize::from(digit)]));
            }
            _ => return self.write(row, out),
        }
        Ok(())
    }

    /// Writes a value that is there, as it is.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let mut buffer = itoa::Buffer::new();
        match &self.kind {
            Kind::Long(array) => {
                out.extend_from_slice(buffer.format(array.value(row)).as_bytes());
            }
            Kind::Int(array) => out.extend_from_slice(buffer.format(array.value(row)).as_bytes()),
            Kind::Whole(value) => out.extend_from_slice(buffer.format(value(row)).as_bytes()),
            Kind::Float(value) => {
                let value = value(row);
                if !value.is_finite() {
                    return Err(format!("{value} is no number that the server takes"));
                }
                let _ = write!(out, "{value:e}");
            }
            Kind::Decimal(array, scale) => write_decimal(array.value(row), *scale, out),
            Kind::Date(array) => write_date(array.value(row).into(), out),
            Kind::Timestamp(array) => {
                let micros = array.value(row);
                write_date(micros.div_euclid(MICROS_A_DAY), out);
                let rest = micros.rem_euclid(MICROS_A_DAY);
                let (seconds, behind) = (rest / 1_000_000, rest % 1_000_000);
                out.push(b' ');
                two(seconds / 3600, out);
                out.push(b':');
                two(seconds / 60 % 60, out);
                out.push(b':');
                two(seconds % 60, out);
                if behind > 0 {
                    let _ = write!(out, ".{behind:06}");
                }
            }
            Kind::Text(bytes) | Kind::Bytes(bytes) => out.extend_from_slice(bytes(row)),
        }
        Ok(())
    }
}

fn two(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(days);
    if (0..=9999).contains(&year) {
        two(year / 100, out);
        two(year % 100, out);
    } else {
        // No calendar of the server has it; it says so.
        let _ = write!(out, "{year}");
    }
    out.push(b'-');
    two(month.into(), out);
    out.push(b'-');
    two(day.into(), out);
}

/// What would end a value, a line or begin an escape has a backslash before it.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\t' | b'\n')) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\\');
        out.push(match rest[at] {
            b'\t' => b't',
            b'\n' => b'n',
            other => other,
        });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        BinaryArray, Date32Array, Decimal128Array, Float64Array, StringArray,
        TimestampMicrosecondArray, UInt64Array,
    };
    use proptest::prelude::*;

    use super::*;

    fn written(array: ArrayRef) -> Vec<String> {
        let cells = Cells::of(&array, "c").unwrap();
        let write = |row| {
            let mut out = Vec::new();
            cells.write_escaped(row, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        (0..array.len()).map(write).collect()
    }

    #[test]
    fn values_are_written_as_the_server_reads_them() {
        assert_eq!(written(Arc::new(UInt64Array::from(vec![u64::MAX]))), ["18446744073709551615"]);
        let decimals = Decimal128Array::from(vec![Some(-5), None, Some(1234)]);
        let decimals = decimals.with_precision_and_scale(12, 2).unwrap();
        assert_eq!(written(Arc::new(decimals)), ["-0.05", "\\N", "12.34"]);
        assert_eq!(
            written(Arc::new(Date32Array::from(vec![19_782, -719_162]))),
            ["2024-02-29", "0001-01-01"]
        );
        let times = TimestampMicrosecondArray::from(vec![3_723_000_004, -1_000_000]);
        assert_eq!(written(Arc::new(times)), ["1970-01-01 01:02:03.000004", "1969-12-31 23:59:59"]);
        assert_eq!(written(Arc::new(Float64Array::from(vec![0.1, -1e300]))), ["1e-1", "-1e300"]);
        assert_eq!(written(Arc::new(BinaryArray::from(vec![b"\x00\xff".as_slice()]))), ["00ff"]);
        assert_eq!(
            written(Arc::new(StringArray::from(vec!["a\tb\nc\\N", ""]))),
            ["a\\tb\\nc\\\\N", ""]
        );
    }

    #[test]
    fn what_the_server_has_no_place_for_is_refused() {
        let array: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
        let cells = Cells::of(&array, "c").unwrap();
        assert!(cells.write_escaped(0, &mut Vec::new()).unwrap_err().contains("NaN"));
        let array: ArrayRef = Arc::new(arrow_array::NullArray::new(1));
        assert!(Cells::of(&array, "c").err().unwrap().contains("column c"));
    }

    proptest! {
        #[test]
        fn escaped_texts_hold_no_end_and_come_back(text in "[a\\\\\t\nä]{0,20}") {
            let mut out = Vec::new();
            escape(text.as_bytes(), &mut out);
            prop_assert!(!out.contains(&b'\t') && !out.contains(&b'\n'));
            let (mut back, mut letters) = (String::new(), std::str::from_utf8(&out).unwrap().chars());
            while let Some(letter) = letters.next() {
                back.push(match letter {
                    '\\' => match letters.next().unwrap() { 't' => '\t', 'n' => '\n', other => other },
                    letter => letter,
                });
            }
            prop_assert_eq!(back, text);
        }
    }
}
