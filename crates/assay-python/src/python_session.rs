//! A session that is a Python object, for engines without a protocol of their own. It takes the
//! interpreter's lock for every operation, so it is for queries that last milliseconds or more.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use assay_drive::digest_arrow::digest_batches;
use assay_drive::script::{Drawer, Drawn};
use assay_drive::session::Canceller;
use assay_drive::{Fetched, Session, SessionError};
use assay_model::Script;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::capsule;

/// Calls `execute(number, values)`, which returns an object that exports an Arrow stream, with all
/// rows fetched; `interrupt()` ends a running call from another thread. Its exceptions may say what
/// class they are of, and whether to try again.
pub struct PythonSession {
    object: Py<PyAny>,
    script: Script,
    drawer: Drawer,
    /// The operation's values are drawn once, however often it is sent.
    drawn: bool,
    result: Option<Py<PyAny>>,
    fetched: Option<(SchemaRef, Vec<RecordBatch>)>,
}

impl PythonSession {
    /// A session on a Python object.
    pub fn new(object: Py<PyAny>, script: Script, seed: u64, number: u32) -> Self {
        let drawer = Drawer::new(&script, seed, number);
        Self { object, script, drawer, drawn: false, result: None, fetched: None }
    }

    fn values<'py>(&self, py: Python<'py>, operation: u16) -> PyResult<Bound<'py, PyList>> {
        let draws = &self.script.operations[usize::from(operation)].draws;
        let values = PyList::empty(py);
        for (drawn, draw) in self.drawer.values().iter().zip(draws) {
            match (drawn, &draw.choice) {
                (Drawn::Integer(number), _) => values.append(number)?,
                (Drawn::Choice(index), Some(choice)) => values.append(&choice[*index])?,
                (Drawn::Choice(_), None) => values.append(py.None())?,
            }
        }
        Ok(values)
    }
}

/// What an exception says of itself: its `sqlstate`, or else its type, is the class of the error, and
/// a true `retryable` means that a later attempt may succeed.
pub fn failed(py: Python<'_>, error: &PyErr) -> SessionError {
    let value = error.value(py);
    let told = value.getattr("sqlstate").and_then(|state| state.extract::<String>());
    let class = told.unwrap_or_else(|_| {
        error.get_type(py).name().map_or_else(|_| "error".into(), |name| name.to_string())
    });
    let retryable = value.getattr("retryable").and_then(|told| told.extract::<bool>());
    SessionError { class, message: value.to_string(), retryable: retryable.unwrap_or(false) }
}

fn unreadable(message: impl std::fmt::Display) -> SessionError {
    SessionError { class: "result".into(), message: message.to_string(), retryable: false }
}

impl Session for PythonSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        if !self.drawn {
            self.drawer.draw(&self.script, operation);
            self.drawn = true;
        }
        Python::attach(|py| {
            let values = self.values(py, operation).map_err(|error| failed(py, &error))?;
            let result = self.object.call_method1(py, "execute", (operation, values));
            self.result = Some(result.map_err(|error| failed(py, &error))?);
            Ok(())
        })
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        let fetched = Python::attach(|py| match &self.result {
            Some(result) => capsule::import(result.bind(py)).map_err(|error| failed(py, &error)),
            None => Err(unreadable("the operation left no result")),
        })?;
        let (_, batches) = self.fetched.insert(fetched);
        digest_batches(batches)
    }

    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        let Some((schema, batches)) = &self.fetched else {
            return Err(unreadable("nothing was fetched"));
        };
        let file = std::fs::File::create(path).map_err(unreadable)?;
        let mut writer = FileWriter::try_new(file, schema).map_err(unreadable)?;
        for batch in batches {
            writer.write(batch).map_err(unreadable)?;
        }
        writer.finish().map_err(unreadable)
    }

    fn release(&mut self) {
        self.drawn = false;
        self.fetched = None;
        Python::attach(|_| self.result = None);
    }

    fn canceller(&self) -> Option<Canceller> {
        let object = Python::attach(|py| self.object.clone_ref(py));
        Some(Box::new(move || {
            Python::attach(|py| {
                // The engine may have ended meanwhile: nothing is left to interrupt then.
                let _ = object.call_method0(py, "interrupt");
            });
        }))
    }
}
