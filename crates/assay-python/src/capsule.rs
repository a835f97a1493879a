//! Arrow streams across the border, by the Arrow C data interface in Python capsules.
#![allow(unsafe_code)] // The interface is a C structure behind a pointer; there is no safe door.

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::RecordBatch;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The name that the interface gives capsules with a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// A capsule with `reader` in it. Whoever takes the stream out releases it.
pub fn export(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Schema and all batches of an object that exports an Arrow stream.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let stream = open(object)?;
    let schema = stream.schema();
    let read: Result<Vec<RecordBatch>, _> = stream.collect();
    Ok((schema, read.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// The stream of an object that exports one.
pub fn open(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer: NonNull<FFI_ArrowArrayStream> = capsule.pointer_checked(Some(STREAM))?.cast();
    // SAFETY: a capsule of this name holds a valid stream by the interface's contract; `from_raw`
    // moves it out and leaves a released one behind, so it is released once.
    let stream = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    stream.map_err(|error| PyValueError::new_err(error.to_string()))
}
