//! The door to the streams of a record: which there are, and a writer for Python's probes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_schema::ArrowError;
use assay_model::{Cell, Column, Kind, Table};
use assay_observe::tables::{
    CGROUP, CPUS, DISKS, NEIGHBOURS, PROBE_DISKS, PROBE_NEIGHBOURS, PROBE_PROCESSES, PROBE_SYSTEM,
    PROBE_WAITS, PROCESSES, SYSTEM, WAITS,
};
use assay_record::{Stream, StreamError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Kinds of the columns that Python's probes write.
const KINDS: [Kind; 5] = [Kind::Int64, Kind::UInt64, Kind::UInt32, Kind::Float64, Kind::Phrase];

/// A writer of one stream, whose columns Python declares.
#[pyclass(name = "Stream", frozen)]
struct PyStream {
    columns: &'static [Column],
    stream: Mutex<Stream>,
}

#[pymethods]
impl PyStream {
    /// Makes the file of the stream `name` in `raw_dir`, which must not be there. A column is
    /// `(name, kind, nullable)`, with a kind as in `record_tables`.
    #[new]
    fn new(raw_dir: PathBuf, name: &str, columns: Vec<(String, String, bool)>) -> PyResult<Self> {
        let columns = columns.into_iter().map(declared).collect::<PyResult<Vec<_>>>()?;
        // A process opens a few streams, which it writes until its end.
        let columns: &'static [Column] = columns.leak();
        let file = format!("{name}.arrows").leak();
        let table = Box::leak(Box::new(Table { file, about: "", columns }));
        let stream = Stream::create(&raw_dir, table).map_err(refused)?;
        Ok(Self { columns, stream: Mutex::new(stream) })
    }

    /// Adds a row, with values in the order of the columns; None is 'not measured'.
    #[pyo3(signature = (*row))]
    fn push(&self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        let values: Vec<_> = row.iter().collect();
        if values.len() != self.columns.len() {
            let message = format!("{} values for {} columns", values.len(), self.columns.len());
            return Err(PyValueError::new_err(message));
        }
        let cells = values.iter().zip(self.columns).map(|(value, column)| cell(value, column));
        let cells = cells.collect::<PyResult<Vec<_>>>()?;
        self.with(|stream| stream.push(&cells));
        Ok(())
    }

    /// Writes the rows that wait as one batch.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(Stream::flush)).map_err(refused)
    }

    /// Writes the rows that wait, and marks the end of the stream.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.with(Stream::finish)).map_err(refused)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}

impl PyStream {
    fn with<T>(&self, act: impl FnOnce(&mut Stream) -> T) -> T {
        act(&mut self.stream.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn declared((name, kind, nullable): (String, String, bool)) -> PyResult<Column> {
    let unknown = || PyValueError::new_err(format!("{name}: no column has the kind {kind:?}"));
    let kind =
        KINDS.into_iter().find(|candidate| kind_name(*candidate) == kind).ok_or_else(unknown)?;
    Ok(Column { name: name.leak(), kind, nullable, about: "" })
}

fn cell<'a>(value: &'a Bound<'_, PyAny>, column: &Column) -> PyResult<Cell<'a>> {
    if value.is_none() {
        let missing = || PyValueError::new_err(format!("{} has no value", column.name));
        return column.nullable.then_some(Cell::Null).ok_or_else(missing);
    }
    Ok(match column.kind {
        Kind::Int64 => Cell::Int(value.extract()?),
        Kind::UInt32 => Cell::Count(value.extract::<u32>()?.into()),
        Kind::UInt64 => Cell::Count(value.extract()?),
        Kind::Float64 => Cell::Float(value.extract()?),
        _ => Cell::Text(value.cast::<PyString>()?.to_str()?),
    })
}

/// The exception with the number of the operating system's error, by which Python knows its kind.
fn refused(error: StreamError) -> PyErr {
    let ArrowError::IoError(_, source) = &error.source else {
        return PyOSError::new_err(error.to_string());
    };
    let Some(number) = source.raw_os_error() else {
        return PyOSError::new_err(error.to_string());
    };
    let text = source.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((number, text, error.path.into_os_string()))
}

/// Makes an empty stream of events, for a record without a load.
#[pyfunction]
fn write_no_events(raw_dir: PathBuf) -> PyResult<()> {
    let stream = Stream::create(&raw_dir, &assay_model::event::EVENTS);
    stream.and_then(|mut stream| stream.finish()).map_err(refused)
}

/// Streams of the record: `(file, about, [(column, type, nullable, about)])`, as the core writes
/// them.
#[pyfunction]
fn record_tables() -> Vec<TableDescription> {
    let mut tables = vec![
        &assay_model::event::EVENTS,
        &assay_model::event::STATEMENTS,
        &assay_model::event::RECEIPTS,
        &assay_model::event::ATTEMPTS,
        &assay_model::event::BACKENDS,
        &assay_model::event::CONNECTIONS,
        &assay_model::event::SERVERS,
        &assay_model::counters::TASKS,
    ];
    tables.extend([
        &SYSTEM,
        &CPUS,
        &PROCESSES,
        &DISKS,
        &NEIGHBOURS,
        &WAITS,
        &CGROUP,
        &PROBE_SYSTEM,
        &PROBE_PROCESSES,
        &PROBE_DISKS,
        &PROBE_NEIGHBOURS,
        &PROBE_WAITS,
    ]);
    tables.extend(assay_profile::TABLES);
    tables.push(&assay_profile::PROBE_PROFILE);
    tables.push(&assay_profile::REQUESTS);
    tables.push(&assay_profile::PROBE_REQUESTS);
    tables.extend(assay_ceiling::tables::TABLES);
    tables.extend([&assay_slow::tables::SLOWING, &assay_slow::tables::PROBE_SLOWING]);
    tables.into_iter().map(describe_table).collect()
}

type ColumnDescription = (&'static str, &'static str, bool, &'static str);
type TableDescription = (&'static str, &'static str, Vec<ColumnDescription>);

fn describe_table(table: &Table) -> TableDescription {
    let column = |c: &Column| (c.name, kind_name(c.kind), c.nullable, c.about);
    (table.file, table.about, table.columns.iter().map(column).collect())
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Int64 => "int64",
        Kind::UInt64 => "uint64",
        Kind::UInt32 => "uint32",
        Kind::Float64 => "float64",
        Kind::Text => "text",
        Kind::Word => "text, dictionary",
        Kind::Phrase => "text, large dictionary",
        Kind::Int64List => "list of int64",
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStream>()?;
    module.add_function(wrap_pyfunction!(write_no_events, module)?)?;
    module.add_function(wrap_pyfunction!(record_tables, module)?)
}
