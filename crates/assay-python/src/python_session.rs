//! A session that is a Python object, for engines without a protocol of their own. It takes the
//! interpreter's lock for every operation, so it is for queries that last milliseconds or more.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use assay_drive::conductor::Conductor;
use assay_drive::digest_arrow::digest_batches;
use assay_drive::session::Canceller;
use assay_drive::{Fetched, Session, SessionError};
use assay_model::Script;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::capsule;
use crate::playing::{python_value, refused};

/// Calls `execute(number, values)`, which returns an object that exports an Arrow stream, with all
/// rows fetched; `interrupt()` ends a running call from another thread. Its exceptions may say what
/// class they are of, and whether to try again.
pub struct PythonSession {
    object: Py<PyAny>,
    conductor: Conductor,
    result: Option<Py<PyAny>>,
    fetched: Option<(SchemaRef, Vec<RecordBatch>)>,
}

impl PythonSession {
    /// A session on a Python object.
    ///
    /// # Errors
    /// If an operation has a program that there is not, or one that lacks what it needs.
    pub fn new(
        object: Py<PyAny>,
        script: Script,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let conductor = Conductor::new(Arc::new(script), seed, number)?;
        Ok(Self { object, conductor, result: None, fetched: None })
    }

    /// Values of all draws of an operation, or of all registers of its program, in their order.
    fn values<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let asked = &self.conductor.script().operations[self.conductor.operation()];
        let there = asked.draws.len().max(asked.registers.len());
        let values = PyList::new(py, (0..there).map(|_| py.None()))?;
        // No statement waits for an answer, so all can be gone through before the first is sent.
        while self.conductor.next_statement().map_err(refused)?.is_some() {
            let places = &self.conductor.statement().values;
            for (place, value) in places.iter().zip(self.conductor.values()) {
                values.set_item(usize::from(*place), python_value(py, value)?)?;
            }
        }
        Ok(values)
    }
}

/// What an exception says of itself: its `sqlstate`, or else its type, is the class of the error, and
/// a true `retryable` means that a later attempt may succeed.
pub fn failed(py: Python<'_>, error: &PyErr) -> SessionError {
    let value = error.value(py);
    let sqlstate = value.getattr("sqlstate").and_then(|state| state.extract::<String>());
    let class = sqlstate.unwrap_or_else(|_| {
        error.get_type(py).name().map_or_else(|_| "error".into(), |name| name.to_string())
    });
    let retryable = value.getattr("retryable").and_then(|flag| flag.extract::<bool>());
    SessionError { class, message: value.to_string(), retryable: retryable.unwrap_or(false) }
}

fn unreadable(message: impl std::fmt::Display) -> SessionError {
    SessionError { class: "result".into(), message: message.to_string(), retryable: false }
}

impl Session for PythonSession {
    fn choose(&mut self, row: Option<u32>) {
        self.conductor.choose(row);
    }

    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        self.conductor.begin(operation);
        Python::attach(|py| {
            let values = self.values(py).map_err(|error| failed(py, &error))?;
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
        self.conductor.release();
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
