//! The digest of rows that came as Arrow batches.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use crate::digest::RowDigest;
use crate::session::{Fetched, SessionError};

/// Adds the cell of one row to the digest.
type Feed<'a> = Box<dyn Fn(usize, &mut RowDigest) + 'a>;

/// Counts and digests the rows of `batches`.
pub fn digest_batches(batches: &[RecordBatch]) -> Result<Fetched, SessionError> {
    let mut digest = RowDigest::default();
    for batch in batches {
        let feeds = batch
            .columns()
            .iter()
            .map(|column| feed(column.as_ref()))
            .collect::<Result<Vec<Feed<'_>>, SessionError>>()?;
        for row in 0..batch.num_rows() {
            for feed in &feeds {
                feed(row, &mut digest);
            }
            digest.end_row();
        }
    }
    Ok(Fetched {
        rows: digest.rows(),
        digest: Some(digest.finish()),
        ordered_digest: digest.finish_ordered(),
    })
}

fn feed(column: &dyn Array) -> Result<Feed<'_>, SessionError> {
    let value = cell(column)?;
    Ok(Box::new(
        move |row, digest| {
            if column.is_null(row) { digest.null() } else { value(row, digest) }
        },
    ))
}

fn whole<T: ArrowPrimitiveType>(column: &dyn Array) -> Feed<'_>
where
    T::Native: Into<i128>,
{
    let column = column.as_primitive::<T>();
    Box::new(move |row, digest| digest.exact(column.value(row).into(), 0))
}

fn float<T: ArrowPrimitiveType>(column: &dyn Array) -> Feed<'_>
where
    T::Native: Into<f64>,
{
    let column = column.as_primitive::<T>();
    Box::new(move |row, digest| digest.float(column.value(row).into()))
}

fn cell(column: &dyn Array) -> Result<Feed<'_>, SessionError> {
    Ok(match column.data_type() {
        DataType::Null => Box::new(|_, digest: &mut RowDigest| digest.null()),
        DataType::Boolean => {
            let column = column.as_boolean();
            Box::new(move |row, digest| digest.boolean(column.value(row)))
        }
        DataType::Int8 => whole::<Int8Type>(column),
        DataType::Int16 => whole::<Int16Type>(column),
        DataType::Int32 => whole::<Int32Type>(column),
        DataType::Int64 => whole::<Int64Type>(column),
        DataType::UInt8 => whole::<UInt8Type>(column),
        DataType::UInt16 => whole::<UInt16Type>(column),
        DataType::UInt32 => whole::<UInt32Type>(column),
        DataType::UInt64 => whole::<UInt64Type>(column),
        DataType::Float32 => float::<Float32Type>(column),
        DataType::Float64 => float::<Float64Type>(column),
        DataType::Decimal128(_, scale) => {
            let (column, scale) = (column.as_primitive::<Decimal128Type>(), i32::from(*scale));
            Box::new(move |row, digest| digest.exact(column.value(row), scale))
        }
        DataType::Date32 => {
            let column = column.as_primitive::<Date32Type>();
            Box::new(move |row, digest| digest.date(column.value(row)))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let column = column.as_primitive::<TimestampMicrosecondType>();
            Box::new(move |row, digest| digest.timestamp(column.value(row)))
        }
        _ => return bytes(column),
    })
}

fn bytes(column: &dyn Array) -> Result<Feed<'_>, SessionError> {
    Ok(match column.data_type() {
        DataType::Utf8 => {
            let column = column.as_string::<i32>();
            Box::new(move |row, digest| digest.bytes(column.value(row).as_bytes()))
        }
        DataType::LargeUtf8 => {
            let column = column.as_string::<i64>();
            Box::new(move |row, digest| digest.bytes(column.value(row).as_bytes()))
        }
        DataType::Utf8View => {
            let column = column.as_string_view();
            Box::new(move |row, digest| digest.bytes(column.value(row).as_bytes()))
        }
        DataType::Binary => {
            let column = column.as_binary::<i32>();
            Box::new(move |row, digest| digest.bytes(column.value(row)))
        }
        other => {
            return Err(SessionError {
                class: "unsupported_type".into(),
                message: format!(
                    "a column of type {other} cannot be digested; cast it in the query"
                ),
                retryable: false,
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Decimal128Array, Int64Array, StringArray};
    use std::sync::Arc;

    #[test]
    fn the_same_values_in_other_types_and_batches_agree() {
        let decimals =
            Decimal128Array::from(vec![100, 200]).with_precision_and_scale(15, 2).unwrap();
        let together = RecordBatch::try_from_iter([("a", Arc::new(decimals) as _)]).unwrap();
        let single = |value| {
            RecordBatch::try_from_iter([("b", Arc::new(Int64Array::from(vec![value])) as _)])
                .unwrap()
        };
        let apart = [single(2), single(1)];
        let (together, apart) =
            (digest_batches(&[together]).unwrap(), digest_batches(&apart).unwrap());
        assert_eq!((together.rows, together.digest), (apart.rows, apart.digest));
        assert_ne!(together.ordered_digest, apart.ordered_digest);
    }

    #[test]
    fn null_is_not_the_empty_text() {
        let batch = |value: Option<&str>| {
            let column = Arc::new(StringArray::from(vec![value])) as _;
            RecordBatch::try_from_iter([("a", column)]).unwrap()
        };
        let digest = |value| digest_batches(&[batch(value)]).unwrap().digest;
        assert_ne!(digest(None), digest(Some("")));
    }
}
