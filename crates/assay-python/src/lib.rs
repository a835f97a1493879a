//! Module `assay._core`: the doors from Python to the driver, the generators and the samplers.
//! Nothing is decided here; arguments and errors are carried across.

mod capsule;
mod driving;
mod errors;
mod generating;
mod observing;
mod profiling;
mod python_session;

use pyo3::prelude::*;

/// The compiled core of Assay.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    driving::register(module)?;
    generating::register(module)?;
    observing::register(module)?;
    profiling::register(module)
}
