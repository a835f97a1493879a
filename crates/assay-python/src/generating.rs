//! The door to the generators and to parameter rules.

use std::sync::Arc;
use std::sync::Mutex;

use assay_generate::parallel::Meter;
use assay_generate::parameters::{Lists, Rules, Source, render, values};
use assay_generate::{Parts, TableStream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule;
use crate::errors;

/// A table as an Arrow stream; can be read once. Its threads start when it is.
#[pyclass(name = "TableStream", frozen)]
struct PyTableStream {
    table: Mutex<Option<Box<dyn Parts>>>,
    threads: usize,
    meter: Arc<Meter>,
    rows_expected: u64,
}

#[pymethods]
impl PyTableStream {
    #[new]
    #[pyo3(signature = (generator, table, scale, threads, sets = 0, seed = None))]
    fn new(
        generator: &str,
        table: &str,
        scale: f64,
        threads: usize,
        sets: u32,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let table = assay_generate::table(generator, table, scale, sets, seed)
            .map_err(errors::generating)?;
        let rows_expected = table.rows_expected();
        Ok(Self { table: Mutex::new(Some(table)), threads, meter: Arc::default(), rows_expected })
    }

    /// Hands the stream out, once.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // The interface allows a producer to keep its own schema.
        let taken = self.table.lock().ok().and_then(|mut table| table.take());
        let table = taken.ok_or_else(|| PyValueError::new_err("the table was read already"))?;
        let stream = TableStream::start(table, self.threads, Arc::clone(&self.meter));
        capsule::export(py, Box::new(stream))
    }

    /// Has the stream's next read fail.
    fn end(&self) {
        self.meter.end();
    }

    /// Rows handed out so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.meter.rows()
    }

    /// Rows there will be; an estimate where lines vary with orders.
    #[getter]
    const fn rows_expected(&self) -> u64 {
        self.rows_expected
    }

    /// Checksum of all that was handed out, as 16 hexadecimal digits.
    #[getter]
    fn checksum(&self) -> String {
        format!("{:016x}", self.meter.checksum())
    }
}

/// How many refresh sets generator `tpch` can make at a scale.
#[pyfunction]
fn refresh_sets_max(scale: f64) -> u32 {
    assay_generate::refresh::sets_max(scale)
}

/// Puts parameter values into a template. Returns the text and the values as JSON. Without a seed
/// the values are the defaults of the rules; with a sequence they are drawn as TPC-H's `qgen` does.
#[pyfunction]
#[pyo3(signature = (template, operation, rules, lists, scale, seed = None, stream = 0, sequence = None))]
#[expect(clippy::too_many_arguments, reason = "they are a Python function's")]
fn render_operation(
    template: &str,
    operation: &str,
    rules: &str,
    lists: &str,
    scale: f64,
    seed: Option<u64>,
    stream: u64,
    sequence: Option<u32>,
) -> PyResult<(String, String)> {
    let unreadable = |error: serde_json::Error| {
        PyValueError::new_err(format!("parameters of {operation}: {error}"))
    };
    let rules: Rules = serde_json::from_str(rules).map_err(unreadable)?;
    let lists: Lists = serde_json::from_str(lists).map_err(unreadable)?;
    let source = seed.map_or(Source::Default, |seed| Source::Drawn { seed, stream, sequence });
    let values = values(operation, &rules, &lists, scale, source).map_err(errors::parameter)?;
    let text = render(template, &values).map_err(errors::parameter)?;
    Ok((text, serde_json::to_string(&values).map_err(unreadable)?))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("GENERATORS_VERSION", assay_generate::VERSION)?;
    module.add_class::<PyTableStream>()?;
    module.add_function(wrap_pyfunction!(refresh_sets_max, module)?)?;
    module.add_function(wrap_pyfunction!(render_operation, module)?)
}
