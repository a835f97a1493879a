//! The door to what makes resources slower for an engine.

use std::path::PathBuf;
use std::sync::Mutex;

use assay_slow::{Factors, Root, Slower, SlowerConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// A slower at work in a thread of its own.
#[pyclass(name = "Slower", frozen)]
struct PySlower(Mutex<Option<Slower>>);

#[pymethods]
impl PySlower {
    /// Begins to slow the processes, each given by its number and its start in ticks since boot, and
    /// all their descendants: what they compute takes `cpu` times as long, and waiting for disks `disk` times. `roots_listen`: a process named here that has
    /// descendants only starts them, and is never stopped. `data` is where the engine's data are.
    #[new]
    #[pyo3(signature = (raw_dir, processes, cpu, disk, roots_listen, data = None))]
    fn new(
        raw_dir: PathBuf,
        processes: Vec<(u32, u64)>,
        cpu: f64,
        disk: f64,
        roots_listen: bool,
        data: Option<PathBuf>,
    ) -> PyResult<Self> {
        let factors = Factors::new(cpu, disk).map_err(errors::slowing)?;
        let root = |(pid, start_ticks)| Root { pid, start_ticks };
        let roots = processes.into_iter().map(root).collect();
        let config = SlowerConfig { roots, roots_listen, factors, raw_dir, data };
        let slower = Slower::start(config).map_err(errors::slowing)?;
        Ok(Self(Mutex::new(Some(slower))))
    }

    /// Has the engine go on; returns what was done and what it cost: looks, stops, `taken_cpu_ns`,
    /// `all_cpu_ns`, `taken_disk_ns`, `owed_ns`, `stopped_ns`, `cpu_ns`, `longest_ns`, error.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().ok().and_then(|mut slower| slower.take());
        let slower =
            taken.ok_or_else(|| PyValueError::new_err("the slower was stopped already"))?;
        let report = py.detach(|| slower.stop()).map_err(errors::slowing)?;
        let facts = PyDict::new(py);
        facts.set_item("looks", report.looks)?;
        facts.set_item("stops", report.stops)?;
        facts.set_item("taken_cpu_ns", report.taken_cpu_ns)?;
        facts.set_item("all_cpu_ns", report.all_cpu_ns)?;
        facts.set_item("taken_disk_ns", report.taken_disk_ns)?;
        facts.set_item("owed_ns", report.owed_ns)?;
        facts.set_item("stopped_ns", report.stopped_ns)?;
        facts.set_item("cpu_ns", report.cpu_ns)?;
        facts.set_item("longest_ns", report.longest_ns)?;
        facts.set_item("error", report.error)?;
        Ok(facts)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySlower>()
}
