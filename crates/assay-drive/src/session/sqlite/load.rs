//! Rows into a table: one transaction, one prepared statement, values straight from Arrow.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchReader, StringArray, StringViewArray, UInt8Array, UInt16Array, UInt32Array,
};
use arrow_schema::{DataType, TimeUnit};
use rusqlite::{Statement, types::Null};

use super::config::{Config, failure};
use super::values::{Moment, nearest};
use crate::session::SessionError;

/// Appends all rows to a table; how many they were.
///
/// # Errors
/// With SQLite's name of the error and its words, or those of the rows' source.
pub fn load<R: RecordBatchReader>(
    config: &Config,
    table: &str,
    rows: R,
) -> Result<u64, SessionError> {
    let session_error = |error| config.session_error(error);
    let connection = config.open()?;
    let name = table.replace('"', "\"\"");
    let places = vec!["?"; rows.schema().fields().len()].join(", ");
    connection.execute_batch("begin").map_err(session_error)?;
    let mut insert = connection
        .prepare(&format!("insert into \"{name}\" values ({places})"))
        .map_err(session_error)?;
    let mut loaded = 0;
    for batch in rows {
        let batch = batch.map_err(|error| failure("rows", error.to_string()))?;
        let columns = cells(&batch).map_err(|reason| failure("rows", reason))?;
        for row in 0..batch.num_rows() {
            for (place, column) in (1..).zip(&columns) {
                column.bind(row, place, &mut insert).map_err(session_error)?;
            }
            insert.raw_execute().map_err(session_error)?;
        }
        loaded += batch.num_rows() as u64;
    }
    drop(insert);
    connection.execute_batch("commit").map_err(session_error)?;
    Ok(loaded)
}

fn cells(batch: &RecordBatch) -> Result<Vec<Cells<'_>>, String> {
    let schema = batch.schema_ref();
    let columns = schema.fields().iter().zip(batch.columns());
    columns
        .map(|(field, array)| {
            Ok(Cells { array: array.as_ref(), kind: kind(field.name(), array.as_ref())? })
        })
        .collect()
}

/// A column of a batch.
struct Cells<'a> {
    array: &'a dyn Array,
    kind: Kind<'a>,
}

/// What is bound of it.
enum Kind<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int8(&'a Int8Array),
    Int16(&'a Int16Array),
    Int32(&'a Int32Array),
    Int64(&'a Int64Array),
    Uint8(&'a UInt8Array),
    Uint16(&'a UInt16Array),
    Uint32(&'a UInt32Array),
    Float32(&'a Float32Array),
    Float64(&'a Float64Array),
    Decimal(&'a Decimal128Array, u32),
    Date(&'a Date32Array),
    /// Whole numbers of so many microseconds, or so many of them a microsecond.
    Timestamp(&'a [i64], i64, i64),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    ViewedText(&'a StringViewArray),
    Bytes(&'a BinaryArray),
}

fn kind<'a>(name: &str, array: &'a dyn Array) -> Result<Kind<'a>, String> {
    Ok(match array.data_type() {
        DataType::Null => Kind::Null,
        DataType::Boolean => Kind::Bool(array.as_boolean()),
        DataType::Int8 => Kind::Int8(array.as_primitive::<Int8Type>()),
        DataType::Int16 => Kind::Int16(array.as_primitive::<Int16Type>()),
        DataType::Int32 => Kind::Int32(array.as_primitive::<Int32Type>()),
        DataType::Int64 => Kind::Int64(array.as_primitive::<Int64Type>()),
        DataType::UInt8 => Kind::Uint8(array.as_primitive::<UInt8Type>()),
        DataType::UInt16 => Kind::Uint16(array.as_primitive::<UInt16Type>()),
        DataType::UInt32 => Kind::Uint32(array.as_primitive::<UInt32Type>()),
        DataType::Float32 => Kind::Float32(array.as_primitive::<Float32Type>()),
        DataType::Float64 => Kind::Float64(array.as_primitive::<Float64Type>()),
        DataType::Decimal128(_, scale) if *scale >= 0 => {
            Kind::Decimal(array.as_primitive::<Decimal128Type>(), u32::from(scale.unsigned_abs()))
        }
        DataType::Date32 => Kind::Date(array.as_primitive::<Date32Type>()),
        DataType::Timestamp(unit, _) => timestamps(*unit, array),
        DataType::Utf8 => Kind::Text(array.as_string()),
        DataType::LargeUtf8 => Kind::LargeText(array.as_string()),
        DataType::Utf8View => Kind::ViewedText(array.as_string_view()),
        DataType::Binary => Kind::Bytes(array.as_binary()),
        other => return Err(format!("column {name}: {other} is not loaded into SQLite")),
    })
}

fn timestamps(unit: TimeUnit, array: &dyn Array) -> Kind<'_> {
    match unit {
        TimeUnit::Second => {
            Kind::Timestamp(array.as_primitive::<TimestampSecondType>().values(), 1_000_000, 1)
        }
        TimeUnit::Millisecond => {
            Kind::Timestamp(array.as_primitive::<TimestampMillisecondType>().values(), 1000, 1)
        }
        TimeUnit::Microsecond => {
            Kind::Timestamp(array.as_primitive::<TimestampMicrosecondType>().values(), 1, 1)
        }
        TimeUnit::Nanosecond => {
            Kind::Timestamp(array.as_primitive::<TimestampNanosecondType>().values(), 1, 1000)
        }
    }
}

impl Cells<'_> {
    fn bind(
        &self,
        row: usize,
        place: usize,
        insert: &mut Statement<'_>,
    ) -> Result<(), rusqlite::Error> {
        if self.array.is_null(row) {
            return insert.raw_bind_parameter(place, Null);
        }
        match &self.kind {
            Kind::Null => insert.raw_bind_parameter(place, Null),
            Kind::Bool(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Int8(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Int16(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Int32(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Int64(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Uint8(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Uint16(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Uint32(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Float32(array) => insert.raw_bind_parameter(place, f64::from(array.value(row))),
            Kind::Float64(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Decimal(array, scale) => {
                insert.raw_bind_parameter(place, nearest(array.value(row), *scale))
            }
            Kind::Date(array) => {
                insert.raw_bind_parameter(place, Moment::default().date(array.value(row)))
            }
            Kind::Timestamp(values, times, parts) => {
                let micros = values[row].saturating_mul(*times).div_euclid(*parts);
                insert.raw_bind_parameter(place, Moment::default().of(micros))
            }
            Kind::Text(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::LargeText(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::ViewedText(array) => insert.raw_bind_parameter(place, array.value(row)),
            Kind::Bytes(array) => insert.raw_bind_parameter(place, array.value(row)),
        }
    }
}
