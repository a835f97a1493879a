//! The door to CPU samples.

use std::path::PathBuf;
use std::sync::Mutex;

use assay_profile::{Granted, Profiler, ProfilerReport, RequestTracer, Stacks, Wish};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// A profile that is being taken in a thread of its own.
#[pyclass(name = "Profiler", frozen)]
struct PyProfiler {
    profiler: Mutex<Option<Profiler>>,
    granted: Granted,
}

#[pymethods]
impl PyProfiler {
    /// Begins to sample the processes and all their descendants, `frequency_hz` times a second of
    /// CPU time, into streams in `raw_dir`.
    ///
    /// `copied_bytes`: how much of each stack is copied and unwound; 0: the kernel follows frame
    /// pointers; `None`: it does where the engine's binary keeps them, else 16 KiB are copied.
    /// `may_watch_all` and `kernel` are left out where the kernel does not grant
    /// them: see `granted`.
    #[new]
    #[pyo3(signature = (raw_dir, pids, frequency_hz, copied_bytes = None, may_watch_all = true, kernel = true))]
    fn new(
        py: Python<'_>,
        raw_dir: PathBuf,
        pids: Vec<u32>,
        frequency_hz: u32,
        copied_bytes: Option<u32>,
        may_watch_all: bool,
        kernel: bool,
    ) -> PyResult<Self> {
        let stacks = match copied_bytes {
            None => None,
            Some(0) => Some(Stacks::FramePointers),
            Some(bytes) => Some(Stacks::Copies(bytes)),
        };
        let wish = Wish { pids, frequency_hz, stacks, may_watch_all, kernel };
        let profiler = py.detach(|| Profiler::start(&raw_dir, &wish)).map_err(errors::profiling)?;
        let granted = profiler.granted();
        Ok(Self { profiler: Mutex::new(Some(profiler)), granted })
    }

    /// What the kernel granted: event, `frequency_hz`, kernel, stacks, `copied_bytes`,
    /// `whole_machine`.
    fn granted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        let attr = self.granted.attr;
        let (stacks, copied_bytes) = match attr.stacks {
            Stacks::Copies(bytes) => ("copies", Some(bytes)),
            Stacks::FramePointers => ("frame pointers", None),
        };
        facts.set_item("event", "cpu-clock")?;
        facts.set_item("frequency_hz", attr.frequency_hz)?;
        facts.set_item("kernel", attr.kernel)?;
        facts.set_item("stacks", stacks)?;
        facts.set_item("copied_bytes", copied_bytes)?;
        facts.set_item("whole_machine", self.granted.whole_machine)?;
        Ok(facts)
    }

    /// Ends sampling, names all functions; returns what it did and cost: samples, `cpu_ns`,
    /// `longest_ns`, error, and notes on what has no names.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.profiler.lock().ok().and_then(|mut profiler| profiler.take());
        let profiler =
            taken.ok_or_else(|| PyValueError::new_err("the profile was stopped already"))?;
        let report = py.detach(|| profiler.stop()).map_err(errors::profiling)?;
        report_facts(py, report)
    }
}

/// Requests of block devices that are being traced by a thread of its own.
#[pyclass(name = "RequestTracer", frozen)]
struct PyRequestTracer(Mutex<Option<RequestTracer>>);

#[pymethods]
impl PyRequestTracer {
    /// Begins to trace the requests of all block devices into `requests.arrows` in `raw_dir`.
    #[new]
    fn new(py: Python<'_>, raw_dir: PathBuf) -> PyResult<Self> {
        let tracer = py.detach(|| RequestTracer::start(&raw_dir)).map_err(errors::profiling)?;
        Ok(Self(Mutex::new(Some(tracer))))
    }

    /// Ends tracing; returns what it did and cost: samples (requests), `cpu_ns`, `longest_ns`, error,
    /// and notes on what is missing.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().ok().and_then(|mut tracer| tracer.take());
        let tracer = taken.ok_or_else(|| PyValueError::new_err("tracing was stopped already"))?;
        let report = py.detach(|| tracer.stop()).map_err(errors::profiling)?;
        report_facts(py, report)
    }
}

/// A report as a dictionary of Python.
fn report_facts(py: Python<'_>, report: ProfilerReport) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("samples", report.counts.samples)?;
    facts.set_item("cpu_ns", report.cpu_ns)?;
    facts.set_item("longest_ns", report.longest_ns)?;
    facts.set_item("error", report.error)?;
    facts.set_item("notes", report.notes)?;
    Ok(facts)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRequestTracer>()?;
    module.add_class::<PyProfiler>()
}
