//! The door to the driver.

use std::path::PathBuf;

use assay_drive::run::Parts;
use assay_drive::session::null::steady;
use assay_drive::{CancelFlag, Progress, Session};
use assay_model::{Meter, Plan};
use assay_observe::ProcessMeter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{self, PlanError};
use crate::python_session::PythonSession;

/// Asks a running `drive` to stop, from any thread.
#[pyclass(name = "CancelFlag", frozen)]
struct PyCancelFlag(CancelFlag);

#[pymethods]
impl PyCancelFlag {
    #[new]
    fn new() -> Self {
        Self(CancelFlag::default())
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// A session without an engine: waits `delay_ns` and fails every `fail_every`-th operation.
#[pyclass(name = "NullSession", frozen)]
struct PyNullSession {
    delay_ns: i64,
    fail_every: u64,
}

#[pymethods]
impl PyNullSession {
    #[new]
    #[pyo3(signature = (delay_ns = 0, fail_every = 0))]
    fn new(delay_ns: i64, fail_every: u64) -> PyResult<Self> {
        if delay_ns < 0 {
            return Err(PyValueError::new_err("delay_ns cannot be negative"));
        }
        Ok(Self { delay_ns, fail_every })
    }
}

/// Drives a plan (JSON) on sessions and writes its streams into `raw_dir`; returns the report as
/// JSON. `tick(phase, ended, phase_ns)` is called several times a second. With `metered`, the
/// counters of this process are read just outside each operation's interval.
#[pyfunction]
fn drive(
    py: Python<'_>,
    plan: &str,
    sessions: Vec<Bound<'_, PyAny>>,
    raw_dir: PathBuf,
    cancel: &PyCancelFlag,
    tick: Py<PyAny>,
    metered: bool,
) -> PyResult<String> {
    let plan: Plan = serde_json::from_str(plan)
        .map_err(|error| PlanError::new_err(format!("the plan cannot be read: {error}")))?;
    if sessions.len() != plan.sessions() as usize {
        let (given, wanted) = (sessions.len(), plan.sessions());
        return Err(PlanError::new_err(format!("{given} sessions were opened for {wanted}")));
    }
    let cancel = cancel.0.clone();
    let meter: Option<Box<dyn Meter + Send>> = if metered {
        Some(Box::new(ProcessMeter::of_self(true).map_err(errors::observing)?))
    } else {
        None
    };
    let parts =
        Parts { sessions: sessions.iter().map(session).collect(), meter, cancel: cancel.clone() };
    let told = |progress: &Progress| tell(&tick, progress, &cancel);
    let report = py.detach(|| assay_drive::drive(&plan, parts, &raw_dir, told));
    py.check_signals()?;
    let report = report.map_err(errors::driving)?;
    serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn session(object: &Bound<'_, PyAny>) -> Box<dyn Session> {
    match object.cast::<PyNullSession>() {
        Ok(null) => Box::new(steady(null.get().delay_ns, null.get().fail_every)),
        Err(_) => Box::new(PythonSession::new(object.clone().unbind())),
    }
}

/// Tells Python how far the run is, and hears Ctrl-C there. Whatever goes wrong in telling stops
/// the run in good order.
fn tell(tick: &Py<PyAny>, progress: &Progress, cancel: &CancelFlag) {
    Python::attach(|py| {
        let told = tick.call1(py, (&progress.phase, progress.ended, progress.phase_ns));
        if let Err(error) = &told {
            // The run ends early for it; the reason must stand in the host's log.
            error.print(py);
        }
        if py.check_signals().is_err() || told.is_err() {
            cancel.cancel();
        }
    });
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCancelFlag>()?;
    module.add_class::<PyNullSession>()?;
    module.add_function(wrap_pyfunction!(drive, module)?)
}
