//! Module `assay._core`: the doors from Python to the driver, the generators, the samplers and trials
//! of the host.
//! Nothing is decided here; arguments and errors are carried across.

mod capsule;
mod ceiling;
mod driving;
mod errors;
mod generating;
mod graph_session;
mod observing;
mod playing;
mod profiling;
mod python_session;
mod recording;
mod slowing;
mod sqlite;

use pyo3::prelude::*;

/// The compiled core of Assay.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    ceiling::register(module)?;
    driving::register(module)?;
    generating::register(module)?;
    observing::register(module)?;
    playing::register(module)?;
    profiling::register(module)?;
    recording::register(module)?;
    slowing::register(module)?;
    sqlite::register(module)
}
