//! A session that is a Python object with a graph in it, asked in SPARQL without a line between. What is
//! asked, how values are written into it and how answers are read is as with an endpoint.

use std::path::Path;
use std::sync::Arc;

use assay_drive::conductor::Conductor;
use assay_drive::session::sparql::answer::Form;
use assay_drive::session::sparql::answers::Answers;
use assay_drive::session::sparql::request::{Kind, Request};
use assay_drive::{Fetched, Session, SessionError};
use assay_model::Script;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::python_session::failed;

/// Calls `ask(text, form)`, which returns the whole answer as bytes in a form that it was told: `tsv`,
/// `json`, `ntriples`, or None of an update.
pub struct GraphSession {
    object: Py<PyAny>,
    conductor: Conductor,
    requests: Vec<Vec<Request>>,
    text: Vec<u8>,
    body: Vec<u8>,
    answers: Answers,
}

impl GraphSession {
    /// A session on a Python object.
    pub fn new(
        object: Py<PyAny>,
        script: Arc<Script>,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let requests = script.operations.iter().map(|operation| {
            operation.statements.iter().map(|statement| Request::read(&statement.text)).collect()
        });
        Ok(Self {
            object,
            requests: requests.collect(),
            conductor: Conductor::new(Arc::clone(&script), seed, number)?,
            text: Vec::with_capacity(4 << 10),
            body: Vec::new(),
            answers: Answers::default(),
        })
    }

    /// Asks one statement, and takes its answer; its rows, where somebody asks for them now.
    fn asked(&mut self, py: Python<'_>, statement: usize) -> Result<u64, SessionError> {
        let conductor = &self.conductor;
        let request = &self.requests[conductor.operation()][statement];
        self.text.clear();
        request.write(|place| conductor.values().nth(place), &mut self.text).map_err(
            |unwritable| {
                let name = conductor.value_name(unwritable.place);
                SessionError::unreadable(format!("{name} cannot be written: {}", unwritable.reason))
            },
        )?;
        let text = std::str::from_utf8(&self.text)
            .map_err(|error| SessionError::unreadable(error.to_string()))?;
        let (form, named) = match request.kind {
            Kind::Select => (Some(Form::Tsv), "tsv"),
            Kind::Ask => (Some(Form::Json), "json"),
            Kind::Graph => (Some(Form::NTriples), "ntriples"),
            Kind::Update => (None, "update"),
        };
        let answer = self.object.call_method1(py, "ask", (text, named));
        let answer = answer.map_err(|error| failed(py, &error))?;
        let Some(form) = form else { return Ok(0) };
        let bytes = answer.bind(py).cast::<PyBytes>();
        let bytes = bytes.map_err(|error| SessionError::unreadable(error.to_string()))?;
        self.body.clear();
        self.body.extend_from_slice(bytes.as_bytes());
        self.answers.take(form, &mut self.body)?;
        self.answers.read_rows(&mut self.conductor, statement)
    }
}

impl Session for GraphSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        self.conductor.begin(operation);
        self.answers.clear();
        while let Some(statement) = self.conductor.next_statement()? {
            let rows = Python::attach(|py| self.asked(py, statement))?;
            self.conductor.answered(statement, rows)?;
        }
        Ok(())
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        self.answers.fetched(&self.conductor)
    }

    /// Keeps the rows of the last answer.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        self.answers.keep(path)
    }

    fn conductor(&self) -> Option<&Conductor> {
        Some(&self.conductor)
    }

    fn conductor_mut(&mut self) -> Option<&mut Conductor> {
        Some(&mut self.conductor)
    }
}
