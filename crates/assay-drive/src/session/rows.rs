//! Rows of a result as an Arrow file: once for each distinct result, outside of what is timed.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Decimal128Builder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Float64Array, RecordBatch,
    RecordBatchOptions, TimestampMicrosecondArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema};

use super::value::{Shape, Value};

/// Digits of Arrow's 128-bit decimals.
const DECIMAL_DIGITS: u8 = 38;

/// Writes rows, given as values in columns of a name and a shape, to a new file.
pub fn write(
    path: &Path,
    columns: &[(&str, Shape)],
    values: &[Vec<Value<'_>>],
) -> Result<(), ArrowError> {
    let arrays: Vec<ArrayRef> =
        columns.iter().zip(values).map(|((_, shape), values)| array(*shape, values)).collect();
    let fields = columns.iter().zip(&arrays);
    let fields: Vec<Field> = fields
        .map(|((name, _), array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let count = values.first().map_or(0, Vec::len);
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?;
    let mut writer = FileWriter::try_new(File::create(path)?, &schema)?;
    writer.write(&batch)?;
    writer.finish()
}

fn array(shape: Shape, values: &[Value<'_>]) -> ArrayRef {
    let values_of = values.iter();
    if values.iter().any(is_beyond_calendars) {
        return texts(values);
    }
    match shape {
        Shape::Bool => Arc::new(
            values_of
                .map(|value| match value {
                    Value::Bool(value) => Some(*value),
                    _ => None,
                })
                .collect::<BooleanArray>(),
        ),
        Shape::Number => numbers(values),
        Shape::Float => Arc::new(
            values_of
                .map(|value| match value {
                    Value::Float(value) => Some(*value),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        Shape::Date => Arc::new(
            values_of
                .map(|value| match value {
                    Value::Date(days) => Some(*days),
                    _ => None,
                })
                .collect::<Date32Array>(),
        ),
        Shape::Timestamp => Arc::new(
            values_of
                .map(|value| match value {
                    Value::Timestamp(micros) => Some(*micros),
                    _ => None,
                })
                .collect::<TimestampMicrosecondArray>(),
        ),
        Shape::Bytes => Arc::new(
            values_of
                .map(|value| match value {
                    Value::Bytes(bytes) => Some(*bytes),
                    _ => None,
                })
                .collect::<BinaryArray>(),
        ),
        Shape::Text => texts(values),
    }
}

/// Whether a date or time is none of the years 1 to 9999, such as `infinity`: most libraries that
/// read Arrow break at those. What a session hands on as digits has no place among them either.
fn is_beyond_calendars(value: &Value<'_>) -> bool {
    match value {
        Value::Date(days) => !(-719_162..=2_932_896).contains(days),
        Value::Timestamp(micros) => {
            !(-62_135_596_800_000_000..=253_402_300_799_999_999).contains(micros)
        }
        Value::Long(_) => true,
        _ => false,
    }
}

/// Decimals of one scale where all values fit, else their digits.
fn numbers(values: &[Value<'_>]) -> ArrayRef {
    let scale =
        values.iter().map(|v| if let Value::Exact(_, scale) = v { *scale } else { 0 }).max();
    let scale = scale.unwrap_or(0);
    let mut builder = Decimal128Builder::with_capacity(values.len());
    for value in values {
        match value {
            Value::Null => builder.append_null(),
            Value::Exact(coefficient, own) => match raised(*coefficient, scale - own) {
                Some(coefficient) => builder.append_value(coefficient),
                None => return texts(values),
            },
            _ => return texts(values),
        }
    }
    match builder.with_precision_and_scale(DECIMAL_DIGITS, scale as i8) {
        Ok(mut builder) => Arc::new(builder.finish()),
        Err(_) => texts(values),
    }
}

fn raised(coefficient: i128, digits: i32) -> Option<i128> {
    let raised = coefficient.checked_mul(10_i128.checked_pow(u32::try_from(digits).ok()?)?)?;
    let limit = 10_i128.pow(u32::from(DECIMAL_DIGITS));
    (-limit < raised && raised < limit).then_some(raised)
}

fn texts(values: &[Value<'_>]) -> ArrayRef {
    let mut builder = StringBuilder::new();
    for value in values {
        match value {
            Value::Null => builder.append_null(),
            Value::Text(bytes) | Value::Bytes(bytes) => {
                builder.append_value(String::from_utf8_lossy(bytes));
            }
            Value::Long(digits) => builder.append_value(digits),
            Value::Float(number) => builder.append_value(number.to_string()),
            Value::Exact(coefficient, scale) => builder.append_value(digits(*coefficient, *scale)),
            Value::Bool(value) => builder.append_value(value.to_string()),
            Value::Date(days) => builder.append_value(format!("{days} days since 1970-01-01")),
            Value::Timestamp(i64::MAX) => builder.append_value("infinity"),
            Value::Timestamp(micros) => {
                builder.append_value(format!("{micros} microseconds since 1970-01-01"));
            }
        }
    }
    Arc::new(builder.finish())
}

/// `coefficient * 10^-scale` in digits; the scale of a value that was read is never negative.
fn digits(coefficient: i128, scale: i32) -> String {
    let scale = scale.max(0) as usize;
    let plain = format!("{:0width$}", coefficient.unsigned_abs(), width = scale + 1);
    let (whole, behind) = plain.split_at(plain.len() - scale);
    let sign = if coefficient < 0 { "-" } else { "" };
    if behind.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{behind}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Decimal128Type;

    #[test]
    fn numbers_share_a_scale_or_become_digits() {
        let fitting = numbers(&[Value::Exact(15, 1), Value::Null, Value::Exact(-225, 2)]);
        let decimals = fitting.as_primitive::<Decimal128Type>();
        assert_eq!((decimals.value(0), decimals.value(2)), (150, -225));
        assert!(decimals.is_null(1));
        let wide = numbers(&[Value::Exact(10_i128.pow(37), 0), Value::Exact(-5, 3)]);
        let text = wide.as_string::<i32>();
        assert_eq!(text.value(0), format!("1{}", "0".repeat(37)));
        assert_eq!(text.value(1), "-0.005");
    }

    #[test]
    fn times_beyond_calendars_are_text() {
        let times = array(Shape::Timestamp, &[Value::Timestamp(i64::MAX), Value::Timestamp(0)]);
        assert_eq!(times.as_string::<i32>().value(0), "infinity");
        assert!(array(Shape::Date, &[Value::Date(0)]).as_string_opt::<i32>().is_none());
    }

    #[test]
    fn a_result_without_rows_keeps_its_columns() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.arrow");
        let columns = [("n", Shape::Number)];
        write(&path, &columns, &[vec![]]).unwrap();
        let file = arrow_ipc::reader::FileReader::try_new(File::open(&path).unwrap(), None);
        assert_eq!(file.unwrap().schema().field(0).name(), "n");
    }
}
