//! One table from the core's errors to Python's exceptions.

use assay_ceiling::CeilingError;
use assay_drive::DriveError;
use assay_generate::{GenerateError, ParameterError};
use assay_observe::ObserveError;
use assay_profile::ProfileError;
use assay_slow::SlowError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};

create_exception!(_core, PlanError, PyValueError, "The plan cannot be driven.");
create_exception!(_core, SessionOpenError, PyOSError, "A session could not be opened.");
create_exception!(_core, RecordError, PyOSError, "The record could not be written.");
create_exception!(
    _core,
    DefectError,
    pyo3::exceptions::PyRuntimeError,
    "A defect of Assay itself."
);

/// The exception that an error of the driver becomes. There is no catch-all arm: a new error asks
/// for a decision here.
pub fn driving(error: DriveError) -> PyErr {
    let text = error.to_string();
    match error {
        DriveError::Plan(_) => PlanError::new_err(text),
        DriveError::Open { .. } => SessionOpenError::new_err(text),
        DriveError::System { .. } => PyOSError::new_err(text),
        DriveError::Record { .. } | DriveError::Stream(_) => RecordError::new_err(text),
        DriveError::Thread(_) => DefectError::new_err(text),
    }
}

/// The exception that an error of a generator becomes.
pub fn generating(error: GenerateError) -> PyErr {
    let text = error.to_string();
    match error {
        GenerateError::Generator(_)
        | GenerateError::Table(..)
        | GenerateError::Scale(_)
        | GenerateError::Warehouses(..)
        | GenerateError::Sets(..)
        | GenerateError::Products(_)
        | GenerateError::Seed(_) => PyValueError::new_err(text),
    }
}

/// The exception that a wrong parameter rule becomes.
pub fn parameter(error: ParameterError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The exception that an error of a probe becomes: all of them are about files.
pub fn observing(error: ObserveError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// The exception that an error of the profile becomes: the system refused, or a file did.
pub fn profiling(error: ProfileError) -> PyErr {
    let text = error.to_string();
    match error {
        ProfileError::Refused { .. }
        | ProfileError::NotTraced { .. }
        | ProfileError::NoProcess(_)
        | ProfileError::Io { .. }
        | ProfileError::Stream(_) => PyOSError::new_err(text),
        ProfileError::Panicked => DefectError::new_err(text),
    }
}

/// The exception that an error of a trial becomes.
pub fn ceiling(error: CeilingError) -> PyErr {
    let text = error.to_string();
    match error {
        CeilingError::NoDirect { .. }
        | CeilingError::Full { .. }
        | CeilingError::File { .. }
        | CeilingError::System { .. } => PyOSError::new_err(text),
        CeilingError::Trial(_) => PyValueError::new_err(text),
        CeilingError::Stream(_) => RecordError::new_err(text),
        CeilingError::Panicked => DefectError::new_err(text),
    }
}

/// The exception that an error of the slower becomes.
pub fn slowing(error: SlowError) -> PyErr {
    let text = error.to_string();
    match error {
        SlowError::Factor(_) => PyValueError::new_err(text),
        SlowError::NoProcess(_)
        | SlowError::Refused { .. }
        | SlowError::Io { .. }
        | SlowError::Stream(_) => PyOSError::new_err(text),
        SlowError::Panicked => DefectError::new_err(text),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("PlanError", py.get_type::<PlanError>())?;
    module.add("SessionOpenError", py.get_type::<SessionOpenError>())?;
    module.add("RecordError", py.get_type::<RecordError>())?;
    module.add("DefectError", py.get_type::<DefectError>())
}
