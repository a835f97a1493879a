//! The door to sessions of SQLite, which work in this process with the SQLite that apsw has in it.

use std::sync::{Arc, Mutex, PoisonError};

use assay_drive::session::sqlite::SqliteSession;
use assay_drive::session::sqlite::config::Config;
use assay_drive::session::sqlite::counts::{COUNTED, Counts};
use assay_drive::session::sqlite::load::load;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::capsule;
use crate::driving::read_script;
use crate::errors::{self, PlanError};

/// A connection to a SQLite database; it is opened here and driven once.
#[pyclass(name = "SqliteSession", frozen)]
pub struct PySqliteSession {
    session: Mutex<Option<SqliteSession>>,
    counts: Arc<Counts>,
}

#[pymethods]
impl PySqliteSession {
    /// Opens the file of `config` (JSON) as session `number`, to execute a script (JSON) with values
    /// drawn from `seed`. A connection of apsw has to have loaded this module as SQLite's extension.
    #[new]
    fn new(py: Python<'_>, config: &str, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        let script = Arc::new(read_script(script)?);
        let config = read_config(config)?;
        let session = py
            .detach(|| SqliteSession::open(config, script, seed, number))
            .map_err(|error| errors::SessionOpenError::new_err(error.to_string()))?;
        Ok(Self { counts: session.counts(), session: Mutex::new(Some(session)) })
    }

    /// What its connection has counted up to the last operation that ended, by name.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        COUNTED.into_iter().zip(self.counts.read()).collect()
    }

    /// Closes the connection, unless it was given to be driven: whoever drives closes it.
    fn close(&self) {
        drop(self.take());
    }
}

impl PySqliteSession {
    /// The session, for whoever drives it.
    pub fn take(&self) -> Option<SqliteSession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn read_config(text: &str) -> PyResult<Config> {
    serde_json::from_str(text)
        .map_err(|error| PlanError::new_err(format!("the file's setup cannot be read: {error}")))
}

/// Appends all rows of an Arrow stream to a table of the file of `config` (JSON), in one
/// transaction; returns how many it were. An error begins with SQLite's name of it and a colon.
#[pyfunction]
fn sqlite_load(
    py: Python<'_>,
    config: &str,
    table: &str,
    rows: &Bound<'_, PyAny>,
) -> PyResult<u64> {
    let config = read_config(config)?;
    let rows = capsule::open(rows)?;
    py.detach(|| load(&config, table, rows)).map_err(|error| PyOSError::new_err(error.to_string()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySqliteSession>()?;
    module.add_function(wrap_pyfunction!(sqlite_load, module)?)
}
