//! Rows into a table by COPY in its binary form, over several connections that take batches from
//! one source. Each connection is one transaction; the first error ends all of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{
    Array, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, RecordBatchReader, StringArray, StringViewArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use assay_model::SplitMix;
use bytes::BytesMut;

use super::choosing::connect;
use super::config::Config;
use super::link::{Link, Reply};
use super::values::{Column, EPOCH_DAYS, EPOCH_MICROS, Kind};
use crate::session::attempt::Attempt;
use crate::session::linked::{Link as _, MessageLink as _};
use crate::session::loading::{LoadError, Source, over_streams, spoke};

/// One write is about this long.
const WRITE_BYTES: usize = 256 << 10;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();
const NULL: [u8; 4] = (-1_i32).to_be_bytes();
const NEGATIVE: u16 = 0x4000;

/// How rows go into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// They are added, over this many connections.
    Append(usize),
    /// They are all there is, over one connection. It truncates the table in the same transaction,
    /// so that pages are written once: rows are frozen, and a minimal log does without them.
    Fill,
}

/// Brings all rows into a table; how many rows it were.
pub fn copy_in<R: RecordBatchReader + Send>(
    config: &Config,
    table: &str,
    rows: R,
    way: Way,
) -> Result<u64, LoadError> {
    let streams = match way {
        Way::Append(streams) => streams,
        Way::Fill => 1,
    };
    let copied =
        over_streams(table, rows, streams, |source| copy_some(config, table, way, source))?;
    Ok(copied.into_iter().sum())
}

/// What one connection loads.
fn copy_some<R: RecordBatchReader>(
    config: &Config,
    table: &str,
    way: Way,
    source: &Source<R>,
) -> Result<u64, String> {
    // Rows go to the server that administration chose, so no order is drawn.
    let connection = connect(config, &mut SplitMix::new(0), &Attempt::default());
    let connection = connection.map_err(|error| error.to_string())?;
    let mut link = Link::new(connection, Arc::default());
    let name = format!("\"{}\"", table.replace('"', "\"\""));
    let columns = columns_of(&mut link, &name)?;
    let freeze = if way == Way::Fill {
        link.command("begin").map_err(text)?;
        link.command(&format!("truncate {name}")).map_err(text)?;
        ", freeze"
    } else {
        ""
    };
    link.begin_copy(&format!("copy {name} from stdin (format binary{freeze})")).map_err(text)?;
    let mut out = BytesMut::with_capacity(WRITE_BYTES * 2);
    out.extend_from_slice(SIGNATURE);
    let mut rows = 0;
    loop {
        let batch = match source.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(reason) => {
                link.fail_copy(&reason).map_err(text)?;
                return Err(reason);
            }
        };
        let writers = writers(&batch, &columns)?;
        for row in 0..batch.num_rows() {
            write_row(&writers, row, &mut out)?;
            if out.len() >= WRITE_BYTES {
                link.send_copy(&out).map_err(text)?;
                out.clear();
            }
        }
        rows += batch.num_rows() as u64;
        if spoke(link.descriptor()) {
            link.hear().map_err(text)?;
        }
    }
    out.extend_from_slice(&TRAILER);
    link.send_copy(&out).map_err(text)?;
    link.end_copy().map_err(text)?;
    if way == Way::Fill {
        link.command("commit").map_err(text)?;
    }
    Ok(rows)
}

fn text(error: crate::session::SessionError) -> String {
    error.to_string()
}

fn columns_of(link: &mut Link, name: &str) -> Result<Vec<Column>, String> {
    link.describe("", &format!("table {name}")).map_err(text)?;
    link.flush().map_err(text)?;
    let (mut columns, mut refused) = (Vec::new(), None);
    loop {
        match link.reply().map_err(text)? {
            Some(Reply::Described(described)) => columns = described.columns.to_vec(),
            Some(Reply::Error(error)) => refused = Some(text(error)),
            Some(Reply::Ready(_)) => return refused.map_or(Ok(columns), Err),
            Some(Reply::Row(_) | Reply::Complete(_)) => {}
            None => {
                link.read().map_err(text)?;
            }
        }
    }
}

/// A column of a batch, and the form that the table wants it in.
enum Writer<'a> {
    Int8(&'a Int64Array),
    Int8To4(&'a Int64Array, &'a str),
    Int4(&'a Int32Array),
    Int4To8(&'a Int32Array),
    Float8(&'a Float64Array),
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    ViewedText(&'a StringViewArray),
    Date(&'a Date32Array),
    Timestamp(&'a TimestampMicrosecondArray),
    Numeric(&'a Decimal128Array, u32),
}

fn writers<'a>(batch: &'a RecordBatch, columns: &'a [Column]) -> Result<Vec<Writer<'a>>, String> {
    if batch.num_columns() != columns.len() {
        let (rows, table) = (batch.num_columns(), columns.len());
        return Err(format!("rows of {rows} columns for a table of {table}"));
    }
    batch.columns().iter().zip(columns).map(|(array, column)| writer(array, column)).collect()
}

fn writer<'a>(array: &'a dyn Array, column: &'a Column) -> Result<Writer<'a>, String> {
    Ok(match (array.data_type(), column.kind) {
        (DataType::Int64, Kind::Int8) => Writer::Int8(array.as_primitive::<Int64Type>()),
        (DataType::Int64, Kind::Int4) => {
            Writer::Int8To4(array.as_primitive::<Int64Type>(), &column.name)
        }
        (DataType::Int32, Kind::Int4) => Writer::Int4(array.as_primitive::<Int32Type>()),
        (DataType::Int32, Kind::Int8) => Writer::Int4To8(array.as_primitive::<Int32Type>()),
        (DataType::Float64, Kind::Float8) => Writer::Float8(array.as_primitive::<Float64Type>()),
        (DataType::Boolean, Kind::Bool) => Writer::Bool(array.as_boolean()),
        (DataType::Utf8, Kind::Text) => Writer::Text(array.as_string()),
        (DataType::LargeUtf8, Kind::Text) => Writer::LargeText(array.as_string()),
        (DataType::Utf8View, Kind::Text) => Writer::ViewedText(array.as_string_view()),
        (DataType::Date32, Kind::Date) => Writer::Date(array.as_primitive::<Date32Type>()),
        (DataType::Timestamp(TimeUnit::Microsecond, _), Kind::Timestamp) => {
            Writer::Timestamp(array.as_primitive::<TimestampMicrosecondType>())
        }
        (DataType::Decimal128(_, scale), Kind::Numeric) if *scale >= 0 => {
            Writer::Numeric(array.as_primitive::<Decimal128Type>(), u32::from(scale.unsigned_abs()))
        }
        (from, to) => {
            let name = &column.name;
            return Err(format!("column {name}: {from} is not loaded into {to:?}"));
        }
    })
}

fn write_row(writers: &[Writer<'_>], row: usize, out: &mut BytesMut) -> Result<(), String> {
    out.extend_from_slice(&(writers.len() as i16).to_be_bytes());
    for writer in writers {
        writer.write(row, out)?;
    }
    Ok(())
}

impl Writer<'_> {
    fn array(&self) -> &dyn Array {
        match self {
            Self::Int8(array) | Self::Int8To4(array, _) => *array,
            Self::Int4(array) | Self::Int4To8(array) => *array,
            Self::Float8(array) => *array,
            Self::Bool(array) => *array,
            Self::Text(array) => *array,
            Self::LargeText(array) => *array,
            Self::ViewedText(array) => *array,
            Self::Date(array) => *array,
            Self::Timestamp(array) => *array,
            Self::Numeric(array, _) => *array,
        }
    }

    fn write(&self, row: usize, out: &mut BytesMut) -> Result<(), String> {
        if self.array().is_null(row) {
            out.extend_from_slice(&NULL);
            return Ok(());
        }
        match self {
            Self::Int8(array) => sized(out, &array.value(row).to_be_bytes()),
            Self::Int8To4(array, name) => {
                let value = array.value(row);
                let fitting = i32::try_from(value);
                let fitting = fitting.map_err(|_| format!("column {name}: {value} is no integer"));
                sized(out, &fitting?.to_be_bytes());
            }
            Self::Int4(array) => sized(out, &array.value(row).to_be_bytes()),
            Self::Int4To8(array) => sized(out, &i64::from(array.value(row)).to_be_bytes()),
            Self::Float8(array) => sized(out, &array.value(row).to_be_bytes()),
            Self::Bool(array) => sized(out, &[u8::from(array.value(row))]),
            Self::Text(array) => sized(out, array.value(row).as_bytes()),
            Self::LargeText(array) => sized(out, array.value(row).as_bytes()),
            Self::ViewedText(array) => sized(out, array.value(row).as_bytes()),
            Self::Date(array) => {
                sized(out, &array.value(row).saturating_sub(EPOCH_DAYS).to_be_bytes());
            }
            Self::Timestamp(array) => {
                sized(out, &array.value(row).saturating_sub(EPOCH_MICROS).to_be_bytes());
            }
            Self::Numeric(array, scale) => numeric(out, array.value(row), *scale),
        }
        Ok(())
    }
}

fn sized(out: &mut BytesMut, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// `numeric`: groups of four decimal digits, without zeros at either end.
fn numeric(out: &mut BytesMut, coefficient: i128, scale: u32) {
    let behind = scale.div_ceil(4);
    let mut rest = coefficient.unsigned_abs();
    let mut groups = [0_u16; 12];
    let mut count = 0;
    // The last group is filled up with zeros, so that groups end at the point.
    let filling = 10_u128.pow(behind * 4 - scale);
    let first = (rest % (10_000 / filling)) * filling;
    if behind > 0 && filling > 1 {
        groups[0] = first as u16;
        count = 1;
        rest /= 10_000 / filling;
    }
    while rest > 0 {
        groups[count] = (rest % 10_000) as u16;
        rest /= 10_000;
        count += 1;
    }
    let zeros = groups[..count].iter().take_while(|group| **group == 0).count();
    let kept = &groups[zeros..count];
    let kept = &kept[..kept.len() - kept.iter().rev().take_while(|group| **group == 0).count()];
    let weight = if kept.is_empty() { 0 } else { (zeros + kept.len()) as i16 - 1 - behind as i16 };
    let sign = if coefficient < 0 && !kept.is_empty() { NEGATIVE } else { 0 };
    out.extend_from_slice(&(8 + 2 * kept.len() as i32).to_be_bytes());
    out.extend_from_slice(&(kept.len() as u16).to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&(scale as u16).to_be_bytes());
    kept.iter().rev().for_each(|group| out.extend_from_slice(&group.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::value::Value;
    use proptest::prelude::*;

    fn read_back(coefficient: i128, scale: u32) -> Value<'static> {
        let mut out = BytesMut::new();
        numeric(&mut out, coefficient, scale);
        let body = out.split_off(4).to_vec();
        match Kind::Numeric.read(&body).unwrap() {
            Value::Exact(coefficient, scale) => Value::Exact(coefficient, scale),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn decimals_are_written_as_the_server_reads_them() {
        let written = |coefficient, scale| {
            let mut out = BytesMut::new();
            numeric(&mut out, coefficient, scale);
            out.to_vec()
        };
        // 12.34: two groups, the first of weight 0, two places behind the point.
        assert_eq!(written(1234, 2), [0, 0, 0, 12, 0, 2, 0, 0, 0, 0, 0, 2, 0, 12, 0x0d, 0x48]);
        assert_eq!(written(0, 2), [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(written(-10_000, 0)[4..8], [0, 1, 0, 1]);
        assert_eq!(written(-10_000, 0)[8..10], [0x40, 0]);
    }

    proptest! {
        #[test]
        fn decimals_come_back(digits in 0..32_u32, number in any::<i128>(), scale in 0..20_u32) {
            let coefficient = number % 10_i128.pow(digits);
            let Value::Exact(read, read_scale) = read_back(coefficient, scale) else { panic!() };
            let mut expected = (coefficient, scale as i32);
            while expected.1 > 0 && expected.0 % 10 == 0 {
                expected = (expected.0 / 10, expected.1 - 1);
            }
            prop_assert_eq!((read, read_scale), expected);
        }
    }
}
