//! The door to the driver.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use assay_drive::drive::Observer;
use assay_drive::run::{Parts, PassListener, PhaseGate};
use assay_drive::schedule::passes::Passed;
use assay_drive::session::jdbc::JdbcSession;
use assay_drive::session::jdbc::link::Config as JdbcConfig;
use assay_drive::session::mysql::MysqlSession;
use assay_drive::session::mysql::config::Config as MysqlConfig;
use assay_drive::session::mysql::load::load;
use assay_drive::session::null::steady;
use assay_drive::session::postgres::PostgresSession;
use assay_drive::session::postgres::config::Config;
use assay_drive::session::postgres::copy::{Way, copy_in};
use assay_drive::session::sparql::SparqlSession;
use assay_drive::session::sparql::config::Config as SparqlConfig;
use assay_drive::session::sparql::load::load as load_graph;
use assay_drive::{CancelFlag, Progress, Session};
use assay_model::{Arrival, Edge, Meter, Phase, Plan, Script};
use assay_observe::{DeviceMeter, ProcessMeter, ServerMeter};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::capsule;
use crate::errors::{self, PlanError};
use crate::graph_session::GraphSession;
use crate::python_session::PythonSession;
use crate::sqlite::PySqliteSession;

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

/// A native connection to a PostgreSQL server; it is opened here and driven once.
#[pyclass(name = "PostgresSession", frozen)]
struct PyPostgresSession(Mutex<Option<PostgresSession>>);

#[pymethods]
impl PyPostgresSession {
    /// Connects to `dsn` as session `number`, to execute a script (JSON) with values drawn from
    /// `seed`. `passing` are errors, by SQLSTATE, that another attempt may cure on this server.
    #[new]
    #[pyo3(signature = (dsn, script, seed, number, passing = Vec::new()))]
    fn new(
        py: Python<'_>,
        dsn: &str,
        script: &str,
        seed: u64,
        number: u32,
        passing: Vec<String>,
    ) -> PyResult<Self> {
        let script = Arc::new(read_script(script)?);
        let session = py.detach(|| {
            let config = Config::from_environment(dsn).map_err(|error| error.to_string())?;
            PostgresSession::open(config, script, seed, number, passing).map_err(|e| e.message)
        });
        let session = session.map_err(errors::SessionOpenError::new_err)?;
        Ok(Self(Mutex::new(Some(session))))
    }
}

/// A connection to a database through the bridge to its JDBC driver; it is opened here and driven
/// once.
#[pyclass(name = "JdbcSession", frozen)]
struct PyJdbcSession(Mutex<Option<JdbcSession>>);

#[pymethods]
impl PyJdbcSession {
    /// Connects to `config` (JSON) as session `number`, to execute a script (JSON) whose statements
    /// have `?` for values, which are drawn from `seed`.
    #[new]
    fn new(py: Python<'_>, config: &str, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        let script = Arc::new(read_script(script)?);
        let config: JdbcConfig = read_address(config)?;
        let session = py.detach(|| JdbcSession::open(config, script, seed, number));
        let session =
            session.map_err(|error| errors::SessionOpenError::new_err(error.to_string()))?;
        Ok(Self(Mutex::new(Some(session))))
    }
}

/// A native connection to a server that speaks MySQL's protocol; it is opened here and driven once.
#[pyclass(name = "MysqlSession", frozen)]
struct PyMysqlSession(Mutex<Option<MysqlSession>>);

#[pymethods]
impl PyMysqlSession {
    /// Connects to `config` (JSON) as session `number`, to execute a script (JSON) with values
    /// drawn from `seed`.
    #[new]
    fn new(py: Python<'_>, config: &str, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        let script = Arc::new(read_script(script)?);
        let config: MysqlConfig = read_address(config)?;
        let session = py.detach(|| MysqlSession::open(config, script, seed, number));
        let session = session.map_err(|error| errors::SessionOpenError::new_err(error.message))?;
        Ok(Self(Mutex::new(Some(session))))
    }
}

/// A native line to a SPARQL endpoint; it is opened here and driven once.
#[pyclass(name = "SparqlSession", frozen)]
struct PySparqlSession(Mutex<Option<SparqlSession>>);

#[pymethods]
impl PySparqlSession {
    /// Connects to `config` (JSON) as session `number`, to send the requests of a script (JSON) with
    /// values drawn from `seed`.
    #[new]
    fn new(py: Python<'_>, config: &str, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        let script = Arc::new(read_script(script)?);
        let config: SparqlConfig = read_address(config)?;
        let session = py.detach(|| SparqlSession::open(config, script, seed, number));
        let session = session.map_err(|error| errors::SessionOpenError::new_err(error.message))?;
        Ok(Self(Mutex::new(Some(session))))
    }
}

/// A Python object that holds a graph as a session: `ask(text, form)` returns its answer as bytes.
#[pyclass(name = "GraphSession", frozen)]
struct PyGraphSession(Mutex<Option<GraphSession>>);

#[pymethods]
impl PyGraphSession {
    #[new]
    fn new(asked: Py<PyAny>, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        let session = GraphSession::new(asked, Arc::new(read_script(script)?), seed, number);
        let session = session.map_err(|error| errors::SessionOpenError::new_err(error.message))?;
        Ok(Self(Mutex::new(Some(session))))
    }
}

/// A Python object as a session: `execute(operation, values)` returns the rows as an Arrow stream,
/// `interrupt()` ends it.
#[pyclass(name = "PythonSession", frozen)]
struct PyPythonSession {
    object: Py<PyAny>,
    script: Script,
    seed: u64,
    number: u32,
}

#[pymethods]
impl PyPythonSession {
    #[new]
    fn new(asked: Py<PyAny>, script: &str, seed: u64, number: u32) -> PyResult<Self> {
        Ok(Self { object: asked, script: read_script(script)?, seed, number })
    }
}

fn read_address<'a, C: Deserialize<'a>>(text: &'a str) -> PyResult<C> {
    // What was read may hold a password, so only where it broke is told.
    serde_json::from_str(text).map_err(|error| {
        let column = error.column();
        PlanError::new_err(format!("the address cannot be read at column {column}"))
    })
}

/// A script, from its JSON.
pub fn read_script(text: &str) -> PyResult<Script> {
    let script: Script = serde_json::from_str(text)
        .map_err(|error| PlanError::new_err(format!("the script cannot be read: {error}")))?;
    script.validate().map_err(|error| PlanError::new_err(error.to_string()))?;
    Ok(script)
}

/// Drives a plan (JSON) on sessions and writes its streams into `raw_dir`; returns the report as
/// JSON. `tick(phase, ended, phase_ns)` is called several times a second, and at least once a phase.
///
/// For phases of the power order: `metered` are the processes whose counters are read just outside each
/// operation's interval, this one alone or the roots of a server's; `observer(sequence, edge)` is called
/// there, too, with `start` or `end`. `device_stat` is the file of sysfs with the counters of the
/// block device that holds the data, read with those of the process.
///
/// For phases whose sessions play an order by themselves: `listener(phase, passes, ended_ns)` hears
/// how many passes ended, when the phase begins and soon after the end of one; where the phase goes
/// on until they are enough, it says so by returning True.
///
/// Where several hosts drive a plan together, `sessions` are a share of its own, from `first_session`
/// on, and `gate(phase)` returns at which CLOCK_MONOTONIC a phase begins; None ends the run.
#[pyfunction]
#[pyo3(signature = (plan, sessions, raw_dir, cancel, tick, metered = None, observer = None, device_stat = None, listener = None, first_session = 0, gate = None))]
#[allow(clippy::too_many_arguments)] // The door takes all that a run is made of.
fn drive(
    py: Python<'_>,
    plan: &str,
    sessions: Vec<Bound<'_, PyAny>>,
    raw_dir: PathBuf,
    cancel: &PyCancelFlag,
    tick: Py<PyAny>,
    metered: Option<Vec<u32>>,
    observer: Option<Py<PyAny>>,
    device_stat: Option<PathBuf>,
    listener: Option<Py<PyAny>>,
    first_session: u32,
    gate: Option<Py<PyAny>>,
) -> PyResult<String> {
    let plan: Plan = serde_json::from_str(plan)
        .map_err(|error| PlanError::new_err(format!("the plan cannot be read: {error}")))?;
    let (given, wanted) = (first_session as usize + sessions.len(), plan.sessions() as usize);
    if if gate.is_some() { given > wanted || sessions.is_empty() } else { given != wanted } {
        return Err(PlanError::new_err(format!("{given} sessions were opened for {wanted}")));
    }
    // Readings take longer than a short operation: in a mix they would be the load.
    let some = |alone: fn(&Phase) -> bool| {
        plan.phases.iter().all(alone)
            || plan.sessions_per_worker == 1 && plan.phases.iter().any(alone)
    };
    let (serial, seen) = (some(|phase| phase.arrival == Arrival::Power), some(Phase::is_serial));
    let cancel = cancel.0.clone();
    let parts = Parts {
        sessions: sessions.iter().map(session).collect::<PyResult<_>>()?,
        meter: metered.filter(|_| serial).map(|pids| meter(&pids, device_stat)).transpose()?,
        observer: observer.filter(|_| seen).map(|observer| observing(observer, cancel.clone())),
        listener: listener.map(|listener| listening(listener, cancel.clone())),
        first_session,
        gate: gate.map(|gate| opening(gate, cancel.clone())),
        cancel: cancel.clone(),
    };
    let report_progress = |progress: &Progress| tell(&tick, progress, &cancel);
    let report = py.detach(|| assay_drive::drive(&plan, parts, &raw_dir, report_progress));
    py.check_signals()?;
    let report = report.map_err(errors::driving)?;
    serde_json::to_string(&report).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn meter(pids: &[u32], device_stat: Option<PathBuf>) -> PyResult<Box<dyn Meter + Send>> {
    let tasks: Box<dyn Meter + Send> = if pids == [std::process::id()] {
        Box::new(ProcessMeter::of_self().map_err(errors::observing)?)
    } else {
        Box::new(ServerMeter::of(pids).map_err(errors::observing)?)
    };
    Ok(match device_stat {
        Some(stat) => Box::new(DeviceMeter::new(tasks, stat)),
        None => tasks,
    })
}

/// An error of the observer stops the run in good order: what it saw would be taken for whole.
fn observing(observer: Py<PyAny>, cancel: CancelFlag) -> Observer {
    Box::new(move |sequence, edge| {
        Python::attach(|py| {
            let edge = match edge {
                Edge::Start => "start",
                Edge::End => "end",
            };
            if let Err(error) = observer.call1(py, (sequence, edge)) {
                error.print(py);
                cancel.cancel();
            }
        });
    })
}

/// An error of the listener stops the run in good order: nobody would know when it is enough.
fn listening(listener: Py<PyAny>, cancel: CancelFlag) -> PassListener {
    Box::new(move |phase: &str, passed: Passed| {
        Python::attach(|py| {
            let answer = listener.call1(py, (phase, passed.passes, passed.ended_ns));
            let enough = answer.and_then(|answer| answer.extract::<bool>(py));
            enough.unwrap_or_else(|error: PyErr| {
                error.print(py);
                cancel.cancel();
                true
            })
        })
    })
}

/// An error of the gate stops the run in good order: nobody would know when to begin.
fn opening(gate: Py<PyAny>, cancel: CancelFlag) -> PhaseGate {
    Box::new(move |phase: &str| {
        Python::attach(|py| {
            let answer =
                gate.call1(py, (phase,)).and_then(|answer| answer.extract::<Option<i64>>(py));
            let at_ns = answer.unwrap_or_else(|error: PyErr| {
                error.print(py);
                None
            });
            if at_ns.is_none() {
                cancel.cancel();
            }
            at_ns
        })
    })
}

fn session(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn Session>> {
    if let Ok(null) = object.cast::<PyNullSession>() {
        return Ok(Box::new(steady(null.get().delay_ns, null.get().fail_every)));
    }
    if let Ok(python) = object.cast::<PyPythonSession>() {
        let PyPythonSession { object: asked, script, seed, number } = python.get();
        let asked = asked.clone_ref(object.py());
        let opened = PythonSession::new(asked, script.clone(), *seed, *number);
        return Ok(Box::new(opened.map_err(|error| PlanError::new_err(error.message))?));
    }
    if let Ok(postgres) = object.cast::<PyPostgresSession>() {
        let taken = postgres.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    if let Ok(mysql) = object.cast::<PyMysqlSession>() {
        let taken = mysql.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    if let Ok(sparql) = object.cast::<PySparqlSession>() {
        let taken = sparql.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    if let Ok(graph) = object.cast::<PyGraphSession>() {
        let taken = graph.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    if let Ok(jdbc) = object.cast::<PyJdbcSession>() {
        let taken = jdbc.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    if let Ok(sqlite) = object.cast::<PySqliteSession>() {
        let taken = sqlite.get().take();
        let taken = taken.ok_or_else(|| PlanError::new_err("a session was driven already"))?;
        return Ok(Box::new(taken));
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("{kind} is no session of the driver")))
}

/// Tells Python how far the run is, and hears Ctrl-C there. Whatever goes wrong in telling stops
/// the run in good order.
fn tell(tick: &Py<PyAny>, progress: &Progress, cancel: &CancelFlag) {
    Python::attach(|py| {
        let result = tick.call1(py, (&progress.phase, progress.ended, progress.phase_ns));
        if let Err(error) = &result {
            // The run ends early for it; the reason must stand in the host's log.
            error.print(py);
        }
        if py.check_signals().is_err() || result.is_err() {
            cancel.cancel();
        }
    });
}

/// Appends all rows of an Arrow stream to a table of a PostgreSQL server over `streams`
/// connections, or over one in place of whatever the table holds if `streams` is None; returns how
/// many it were.
#[pyfunction]
fn postgres_copy(
    py: Python<'_>,
    config: &str,
    table: &str,
    rows: &Bound<'_, PyAny>,
    streams: Option<usize>,
) -> PyResult<u64> {
    let config = Config::from_environment(config)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let rows = capsule::open(rows)?;
    let copied =
        py.detach(|| copy_in(&config, table, rows, streams.map_or(Way::Fill, Way::Append)));
    copied.map_err(|error| PyOSError::new_err(error.to_string()))
}

/// What the bits of a program's marks are called, from the lowest; `skipped:4` is a number of four.
#[pyfunction]
fn program_marks(name: &str) -> PyResult<Vec<&'static str>> {
    assay_drive::program::marks(name).map(<[_]>::to_vec).map_err(PyValueError::new_err)
}

/// Whether a program reads rows that statements return: only the driver's own sessions play those.
#[pyfunction]
fn program_reads_rows(name: &str) -> PyResult<bool> {
    assay_drive::program::reads_rows(name).map_err(PyValueError::new_err)
}

/// What the values of a program's receipts are called, in order; empty: it gives none.
#[pyfunction]
fn program_receipt(name: &str) -> PyResult<Vec<&'static str>> {
    let names = assay_drive::program::receipt_names(name);
    names.map(<[_]>::to_vec).map_err(PyValueError::new_err)
}

/// Appends all rows of an Arrow stream to a table of a server that speaks MySQL's protocol, over
/// `streams` connections; returns how many it were, and the way that the server took them:
/// `load data local infile`, or `insert` where it does not take files of clients.
#[pyfunction]
fn mysql_load(
    py: Python<'_>,
    config: &str,
    table: &str,
    rows: &Bound<'_, PyAny>,
    streams: usize,
) -> PyResult<(u64, &'static str)> {
    let config: MysqlConfig = read_address(config)?;
    let rows = capsule::open(rows)?;
    let (rows, way) = py
        .detach(|| load(&config, table, rows, streams))
        .map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok((rows, way.name()))
}

/// Adds all statements of an Arrow stream, whose one column holds lines of N-Triples, to the graph that
/// `target` names to an endpoint's server, over `streams` connections; returns how many it were.
#[pyfunction]
fn sparql_load(
    py: Python<'_>,
    config: &str,
    target: &str,
    rows: &Bound<'_, PyAny>,
    streams: usize,
) -> PyResult<u64> {
    let config: SparqlConfig = read_address(config)?;
    let rows = capsule::open(rows)?;
    let loaded = py.detach(|| load_graph(&config, target, rows, streams));
    loaded.map_err(|error| PyOSError::new_err(error.to_string()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCancelFlag>()?;
    module.add_class::<PyGraphSession>()?;
    module.add_class::<PyJdbcSession>()?;
    module.add_class::<PyMysqlSession>()?;
    module.add_class::<PyNullSession>()?;
    module.add_class::<PyPostgresSession>()?;
    module.add_class::<PyPythonSession>()?;
    module.add_class::<PySparqlSession>()?;
    module.add_function(wrap_pyfunction!(mysql_load, module)?)?;
    module.add_function(wrap_pyfunction!(postgres_copy, module)?)?;
    module.add_function(wrap_pyfunction!(program_marks, module)?)?;
    module.add_function(wrap_pyfunction!(program_reads_rows, module)?)?;
    module.add_function(wrap_pyfunction!(program_receipt, module)?)?;
    module.add_function(wrap_pyfunction!(sparql_load, module)?)?;
    module.add_function(wrap_pyfunction!(drive, module)?)
}
