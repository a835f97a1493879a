//! The door to programs for whoever carries out their statements himself, one by one, outside a
//! run: the capture of plans.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_drive::conductor::Conductor;
use assay_drive::session::SessionError;
use assay_drive::session::sparql::request::Request;
use assay_drive::session::value::{Bound as Bind, Value};
use assay_model::Script;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};

/// Says which statement of an operation is next, and with which values, by the answers that it is
/// given.
#[pyclass(name = "Player", frozen)]
struct PyPlayer(Mutex<Conductor>);

/// The number of a statement, and its values.
type Next = (usize, Vec<Py<PyAny>>);

impl PyPlayer {
    fn conductor(&self) -> MutexGuard<'_, Conductor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyPlayer {
    #[new]
    fn new(script: &str, seed: u64, session: u32) -> PyResult<Self> {
        let script: Script = serde_json::from_str(script)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let conductor = Conductor::new(Arc::new(script), seed, session).map_err(refused)?;
        Ok(Self(Mutex::new(conductor)))
    }

    /// Begins an execution of operation number `operation` with inputs of its own.
    fn begin(&self, operation: u16) {
        let mut conductor = self.conductor();
        conductor.release();
        conductor.begin(operation);
    }

    /// The statement that is to be asked now and its values; None: the operation has ended.
    fn next(&self, py: Python<'_>) -> PyResult<Option<Next>> {
        let mut conductor = self.conductor();
        let Some(statement) = conductor.next_statement().map_err(refused)? else {
            return Ok(None);
        };
        let values =
            conductor.values().map(|value| python_value(py, value)).collect::<PyResult<_>>()?;
        Ok(Some((statement, values)))
    }

    /// What the statement that `next` told last came to: its rows, and how many it returned or
    /// changed.
    fn answered(
        &self,
        statement: usize,
        rows: Vec<Vec<Bound<'_, PyAny>>>,
        count: u64,
    ) -> PyResult<()> {
        let mut conductor = self.conductor();
        for row in rows {
            for (column, cell) in row.iter().enumerate() {
                let (text, bytes);
                let value = match number(cell)? {
                    Some(value) => value,
                    None if cell.is_none() => Value::Null,
                    None if cell.is_instance_of::<PyBytes>() => {
                        bytes = cell.extract::<Vec<u8>>()?;
                        Value::Bytes(&bytes)
                    }
                    None => {
                        text = cell.str()?.extract::<String>()?;
                        Value::Text(text.as_bytes())
                    }
                };
                conductor.cell(statement, column, &value).map_err(refused)?;
            }
            conductor.end_row(statement).map_err(refused)?;
        }
        conductor.answered(statement, count).map_err(refused)
    }
}

/// What a program refused, as an exception.
pub fn refused(error: SessionError) -> PyErr {
    PyValueError::new_err(error.message)
}

/// A value that is bound, in Python's types.
pub fn python_value(py: Python<'_>, value: Bind<'_>) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Bind::Null => py.None(),
        Bind::Integer(number) => PyInt::new(py, number).into_any().unbind(),
        Bind::Decimal(coefficient, scale) => {
            let text = format!("{coefficient}E-{scale}");
            py.import("decimal")?.call_method1("Decimal", (text,))?.unbind()
        }
        Bind::Text(text) => PyString::new(py, text).into_any().unbind(),
        Bind::Timestamp(micros) => {
            let dates = py.import("datetime")?;
            let epoch = dates.call_method1("datetime", (1970, 1, 1))?;
            let since = dates.call_method1("timedelta", (0, 0, micros))?;
            epoch.call_method1("__add__", (since,))?.unbind()
        }
    })
}

/// A value of a row that is a truth value or a number of Python; `None`: it is none.
fn number<'a>(cell: &Bound<'_, PyAny>) -> PyResult<Option<Value<'a>>> {
    if cell.is_instance_of::<PyBool>() {
        return Ok(Some(Value::Bool(cell.extract()?)));
    }
    if cell.is_instance_of::<PyInt>() {
        return Ok(Some(Value::Exact(cell.extract()?, 0)));
    }
    if cell.is_instance_of::<PyFloat>() {
        return Ok(Some(Value::Float(cell.extract()?)));
    }
    if cell.get_type().name()? != "Decimal" {
        return Ok(None);
    }
    let text: String = cell.call_method1("__format__", ("f",))?.extract()?;
    let digits = text.replace('.', "");
    let scale = text.split_once('.').map_or(0, |(_, behind)| behind.len());
    let coefficient =
        digits.parse().map_err(|_| PyValueError::new_err(format!("{text} is too long")))?;
    Ok(Some(Value::Exact(coefficient, scale as i32)))
}

/// A value as it was told, kept for as long as it is written.
enum Kept {
    Null,
    Integer(i64),
    Timestamp(i64),
    Text(String),
}

/// The text of a SPARQL request with values written where `${1}`, `${2}`, ... stand in it, as a session
/// writes them.
#[pyfunction]
fn sparql_text(text: &str, values: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
    let values = values.iter().map(kept).collect::<PyResult<Vec<_>>>()?;
    let bound = |place: usize| {
        values.get(place).map(|value| match value {
            Kept::Null => Bind::Null,
            Kept::Integer(number) => Bind::Integer(*number),
            Kept::Timestamp(micros) => Bind::Timestamp(*micros),
            Kept::Text(text) => Bind::Text(text),
        })
    };
    let mut written = Vec::with_capacity(text.len());
    Request::read(text).write(bound, &mut written).map_err(|unwritable| {
        let place = unwritable.place + 1;
        PyValueError::new_err(format!("value {place} cannot be written: {}", unwritable.reason))
    })?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}

fn kept(value: &Bound<'_, PyAny>) -> PyResult<Kept> {
    if value.is_none() {
        return Ok(Kept::Null);
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Kept::Integer(value.extract()?));
    }
    if value.get_type().name()? != "datetime" {
        return Ok(Kept::Text(value.str()?.extract()?));
    }
    let epoch = value.get_type().call1((1970, 1, 1))?;
    let since = value.call_method1("__sub__", (epoch,))?;
    let part = |name: &str| since.getattr(name)?.extract::<i64>();
    let seconds = part("days")? * 86_400 + part("seconds")?;
    Ok(Kept::Timestamp(seconds * 1_000_000 + part("microseconds")?))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPlayer>()?;
    module.add_function(wrap_pyfunction!(sparql_text, module)?)
}
