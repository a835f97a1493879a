//! The door to the probes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_observe::{ProbeKind, ProcRoot, ReadsMeter, Sampler, SamplerConfig, SysRoot};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// Reads how much processes and their descendants have read.
#[pyclass(name = "ReadsMeter", frozen)]
struct PyReadsMeter(Mutex<ReadsMeter>);

#[pymethods]
impl PyReadsMeter {
    /// Of the processes `pids`, none of which descends from another.
    #[new]
    fn new(pids: Vec<u32>) -> PyResult<Self> {
        Ok(Self(Mutex::new(ReadsMeter::of(&pids).map_err(errors::observing)?)))
    }

    /// Bytes that they asked for, and bytes that were fetched from storage for them; None of what
    /// one of them does not tell.
    fn read(&self, py: Python<'_>) -> PyResult<(Option<u64>, Option<u64>)> {
        let read = || self.0.lock().unwrap_or_else(PoisonError::into_inner).read();
        let reads = py.detach(read).map_err(errors::observing)?;
        Ok((reads.asked_bytes, reads.fetched_bytes))
    }
}

/// A probe at work in a thread of its own.
#[pyclass(name = "Sampler", frozen)]
struct PySampler(Mutex<Option<Sampler>>);

#[pymethods]
impl PySampler {
    /// Starts a probe (`system`, `processes`, `disks`, `neighbours` or `waits`) that writes its streams into `raw_dir`.
    /// It takes at most `core_share_max` of a core, and samples less often where it has to for that.
    /// `followed` are pids with their accounts, for `processes` and `waits` only.
    #[new]
    #[pyo3(signature = (kind, raw_dir, interval_ns, followed = Vec::new(), proc_root = None, core_share_max = None))]
    fn new(
        kind: &str,
        raw_dir: PathBuf,
        interval_ns: u64,
        followed: Vec<(u32, String)>,
        proc_root: Option<PathBuf>,
        core_share_max: Option<f64>,
    ) -> PyResult<Self> {
        let config = SamplerConfig {
            kind: probe(kind)?,
            raw_dir,
            interval: Duration::from_nanos(interval_ns),
            core_share_max: core_share_max.filter(|share| *share > 0.0),
            proc_root: proc_root.map_or_else(ProcRoot::default, ProcRoot),
            sys_root: SysRoot::default(),
            followed,
        };
        let sampler = Sampler::start(config).map_err(errors::observing)?;
        Ok(Self(Mutex::new(Some(sampler))))
    }

    /// Stops the probe; returns what it did and cost: samples, cpu_ns, longest_ns, interval_ns (the
    /// longest that it chose), error, notes.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let taken = self.0.lock().ok().and_then(|mut sampler| sampler.take());
        let sampler =
            taken.ok_or_else(|| PyValueError::new_err("the probe was stopped already"))?;
        let report = py.detach(|| sampler.stop()).map_err(errors::observing)?;
        let facts = PyDict::new(py);
        facts.set_item("samples", report.samples)?;
        facts.set_item("cpu_ns", report.cpu_ns)?;
        facts.set_item("longest_ns", report.longest_ns)?;
        facts.set_item("interval_ns", report.interval_ns)?;
        facts.set_item("error", report.error)?;
        facts.set_item("notes", report.notes)?;
        Ok(facts)
    }
}

fn probe(kind: &str) -> PyResult<ProbeKind> {
    match kind {
        "system" => Ok(ProbeKind::System),
        "processes" => Ok(ProbeKind::Processes),
        "disks" => Ok(ProbeKind::Disks),
        "neighbours" => Ok(ProbeKind::Neighbours),
        "waits" => Ok(ProbeKind::Waits),
        _ => Err(PyValueError::new_err(format!("there is no probe {kind:?}"))),
    }
}

/// Bytes of a file that are in the page cache; nothing of it is read for the answer.
#[pyfunction]
fn resident_bytes(path: PathBuf) -> PyResult<u64> {
    assay_observe::page_cache::resident_bytes(&path).map_err(errors::observing)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReadsMeter>()?;
    module.add_class::<PySampler>()?;
    module.add_function(wrap_pyfunction!(resident_bytes, module)?)
}
