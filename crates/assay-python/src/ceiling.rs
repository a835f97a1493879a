//! The door to trials of the host.

use std::path::PathBuf;
use std::sync::Mutex;

use assay_ceiling::disk::ring_refusal;
use assay_ceiling::{CeilingError, Sweep};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::errors;

/// Trials of the disk, of memory and of cores, each a row of streams in `raw_dir`.
#[pyclass(name = "CeilingSweep", frozen)]
struct PyCeilingSweep(Mutex<Option<Sweep>>);

#[pymethods]
impl PyCeilingSweep {
    #[new]
    fn new(raw_dir: PathBuf, seed: u64) -> PyResult<Self> {
        let sweep = Sweep::create(&raw_dir, seed).map_err(errors::ceiling)?;
        Ok(Self(Mutex::new(Some(sweep))))
    }

    /// Makes a file without a name in `directory`; returns `size_bytes`, `direct_align_bytes` and
    /// `device_number` as stat(2) has it.
    fn open<'py>(
        &self,
        py: Python<'py>,
        directory: PathBuf,
        size_bytes: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (size, align, device) = self.with(py, |sweep| {
            let file = sweep.open(&directory, size_bytes)?;
            Ok((file.size_bytes(), file.direct_align_bytes(), file.device_number()?))
        })?;
        let facts = PyDict::new(py);
        facts.set_item("size_bytes", size)?;
        facts.set_item("direct_align_bytes", align)?;
        facts.set_item("device_number", device)?;
        Ok(facts)
    }

    /// Writes up to so many more bytes of the file; returns how many it has.
    fn fill(&self, py: Python<'_>, at_most_bytes: u64) -> PyResult<u64> {
        self.with(py, |sweep| sweep.fill(at_most_bytes))
    }

    /// Makes a trial of the disk, given as JSON; returns how many requests ended.
    fn disk(&self, py: Python<'_>, trial: &str) -> PyResult<u64> {
        let trial = understood(trial)?;
        self.with(py, |sweep| sweep.disk(&trial))
    }

    /// Makes a trial of memory, given as JSON; returns bytes that were moved, or loads.
    fn memory(&self, py: Python<'_>, trial: &str) -> PyResult<u64> {
        let trial = understood(trial)?;
        self.with(py, |sweep| sweep.memory(&trial))
    }

    /// Makes a trial of cores, given as JSON; returns how many steps were made.
    fn core(&self, py: Python<'_>, trial: &str) -> PyResult<u64> {
        let trial = understood(trial)?;
        self.with(py, |sweep| sweep.core(&trial))
    }

    /// Ends the streams and lets the file go.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.0.lock().ok().and_then(|mut sweep| sweep.take());
        let sweep = taken.ok_or_else(ended)?;
        py.detach(|| sweep.finish()).map_err(errors::ceiling)
    }
}

impl PyCeilingSweep {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Sweep) -> Result<T, CeilingError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut sweep = self.0.lock().map_err(|_| ended())?;
            work(sweep.as_mut().ok_or_else(ended)?).map_err(errors::ceiling)
        })
    }
}

fn understood<T: DeserializeOwned>(trial: &str) -> PyResult<T> {
    serde_json::from_str(trial).map_err(|error| PyValueError::new_err(format!("trial: {error}")))
}

fn ended() -> PyErr {
    PyValueError::new_err("the sweep has ended already")
}

/// Why the kernel grants no `io_uring`, in its words; None where it does.
#[pyfunction]
fn io_uring_refusal() -> Option<String> {
    ring_refusal().map(|error| error.to_string())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCeilingSweep>()?;
    module.add_function(wrap_pyfunction!(io_uring_refusal, module)?)
}
