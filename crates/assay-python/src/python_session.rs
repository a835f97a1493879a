//! A session that is a Python object, for engines without a protocol of their own. It takes the
//! interpreter's lock for every operation, so it is for queries that last milliseconds or more.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use assay_drive::digest_arrow::digest_batches;
use assay_drive::session::Canceller;
use assay_drive::{Fetched, Session, SessionError};
use pyo3::prelude::*;

use crate::capsule;

/// Calls `execute(number)`, which returns an object that exports an Arrow stream, with all rows
/// fetched; `interrupt()` ends a running call from another thread.
pub struct PythonSession {
    object: Py<PyAny>,
    result: Option<Py<PyAny>>,
    fetched: Option<(SchemaRef, Vec<RecordBatch>)>,
}

impl PythonSession {
    /// A session on a Python object.
    pub const fn new(object: Py<PyAny>) -> Self {
        Self { object, result: None, fetched: None }
    }
}

fn failed(py: Python<'_>, error: &PyErr) -> SessionError {
    let class = error.get_type(py).name().map_or_else(|_| "error".into(), |name| name.to_string());
    SessionError { class, message: error.value(py).to_string(), retryable: false }
}

fn unreadable(message: impl std::fmt::Display) -> SessionError {
    SessionError { class: "result".into(), message: message.to_string(), retryable: false }
}

impl Session for PythonSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        Python::attach(|py| {
            let result = self.object.call_method1(py, "execute", (operation,));
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
        let partial = path.with_extension("partial");
        let file = std::fs::File::create(&partial).map_err(unreadable)?;
        let mut writer = FileWriter::try_new(file, schema).map_err(unreadable)?;
        for batch in batches {
            writer.write(batch).map_err(unreadable)?;
        }
        writer.finish().map_err(unreadable)?;
        std::fs::rename(&partial, path).map_err(unreadable)
    }

    fn release(&mut self) {
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
