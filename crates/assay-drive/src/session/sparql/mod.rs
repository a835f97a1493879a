//! The SPARQL protocol over HTTP/1.1, as any endpoint speaks it. The session itself writes requests
//! and reads answers; it reads and writes through a stream that blocks (a thread a session) or does
//! not (a thread several sessions). The line stays open from request to request.
//!
//! Values are written into the text, because the protocol binds none. An answer stays as it came
//! until the clock was read; then all of it is parsed, counted and digested. One that is cut, a part,
//! or no answer fails the operation.
//!
//! An operation that meets a lost connection fails, and the next one connects anew, once. Only a query
//! that finds its line closed before anything was answered is sent once more on a new one: a server
//! may close a line that was idle. Making the new line is a step of its own (`Step::Connects`), because
//! it may wait. The protocol ends nothing that runs, so an operation is
//! interrupted by closing its line, and the server may go on with it for nobody.

pub mod answer;
pub mod answers;
pub mod config;
mod json;
pub mod link;
pub mod load;
mod ntriples;
pub mod request;
pub mod response;
pub mod sent;
pub mod term;
mod tsv;
mod turtle;
pub mod verdict;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::Script;

use self::answers::Answers;
use self::config::Config;
use self::link::Link;
use self::request::Kind;
use self::sent::Sent;
use super::interrupt::Means;
use super::line::Received;
use super::linked::{Link as _, Linked, LinkedSession, closer};
use super::{
    Canceller, Fetched, HELD_BYTES_MAX, Session, SessionError, SharedSession, Step, execute_waiting,
};
use crate::conductor::Conductor;

/// One line to an endpoint.
pub struct SparqlSession {
    config: Config,
    conductor: Conductor,
    requests: Vec<Vec<Sent>>,
    linked: Linked<Link>,
    /// The watchdog closed the line.
    cut: Arc<AtomicBool>,
    /// The statement under way.
    statement: usize,
    /// Its request, as it was sent.
    out: Vec<u8>,
    /// The line was found closed, and the request sent once more.
    sent_again: bool,
    answers: Answers,
}

impl SparqlSession {
    /// Opens session number `number` of a run.
    pub fn open(
        config: Config,
        script: Arc<Script>,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let of_operation = |operation: &assay_model::ScriptOperation| {
            let read =
                |statement: &assay_model::ScriptStatement| Sent::read(&config, &statement.text);
            operation.statements.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        let requests = script.operations.iter().map(of_operation).collect::<Result<_, _>>()?;
        let mut session = Self {
            requests,
            config,
            conductor: Conductor::new(script, seed, number)?,
            linked: Linked::default(),
            cut: Arc::default(),
            statement: 0,
            out: Vec::with_capacity(4 << 10),
            sent_again: false,
            answers: Answers::default(),
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), SessionError> {
        self.linked.connect(|attempt| {
            let link = Link::open(&self.config, attempt)?;
            let means = means(&link, &self.cut);
            Ok((link, means, ()))
        })
    }

    fn begin_operation(&mut self, operation: u16) -> Result<Step, SessionError> {
        self.cut.store(false, Ordering::Relaxed);
        if self.linked.link.is_none() {
            self.connect()?;
        }
        self.conductor.begin(operation);
        self.linked.begin();
        self.answers.clear();
        self.next()
    }

    /// Sends the statement that is due, or ends the operation.
    fn next(&mut self) -> Result<Step, SessionError> {
        let Some(statement) = self.conductor.next_statement()? else { return Ok(Step::Ended) };
        self.statement = statement;
        self.sent_again = false;
        let conductor = &self.conductor;
        let sent = &self.requests[conductor.operation()][statement];
        sent.write(|place| conductor.values().nth(place), &mut self.out).map_err(|unwritable| {
            let name = conductor.value_name(unwritable.place);
            SessionError::unreadable(format!("{name} cannot be written: {}", unwritable.reason))
        })?;
        if self.linked.link.is_none() { Ok(Step::Connects) } else { self.send() }
    }

    fn kind(&self) -> Kind {
        self.requests[self.conductor.operation()][self.statement].kind()
    }

    fn send(&mut self) -> Result<Step, SessionError> {
        let link = self.linked.link_mut()?;
        link.ask(&self.out);
        self.flush()
    }

    fn flush(&mut self) -> Result<Step, SessionError> {
        match self.linked.link_mut()?.flush() {
            Ok(true) => Ok(Step::Reads),
            Ok(false) => Ok(Step::Writes),
            Err(error) => self.lost(error),
        }
    }

    /// The line broke: a query goes once more over a new one, if nothing of its answer came.
    fn lost(&mut self, error: SessionError) -> Result<Step, SessionError> {
        let idle = self.linked.link.as_ref().is_some_and(|l| l.served && l.response.is_untouched());
        self.linked.disconnect();
        let again = idle && !self.sent_again && self.kind() != Kind::Update;
        if !again || self.cut.load(Ordering::Relaxed) {
            return Err(error);
        }
        self.sent_again = true;
        Ok(Step::Connects)
    }

    fn read_answer(&mut self) -> Result<Step, SessionError> {
        let mut step = Step::Reads;
        if !self.linked.link_mut()?.all_sent() {
            step = self.flush()?;
        }
        while step == Step::Reads {
            let received = match self.linked.link_mut()?.read() {
                Ok(received) => received,
                Err(error) => {
                    self.linked.disconnect();
                    return Err(error);
                }
            };
            match received {
                Received::Nothing => return Ok(Step::Reads),
                Received::Bytes(_) => step = self.received()?,
                Received::End => step = self.closed()?,
            }
        }
        Ok(step)
    }

    fn received(&mut self) -> Result<Step, SessionError> {
        let held = self.answers.held_bytes();
        let response = &self.linked.link_mut()?.response;
        if response.is_whole() {
            return self.answered();
        }
        if response.body.len() + held > HELD_BYTES_MAX && response.has_head() {
            return self.drop_part();
        }
        Ok(Step::Reads)
    }

    /// Has the part of an answer digested that is there, because it is too much to be held. What comes
    /// instead of an answer is read no further.
    fn drop_part(&mut self) -> Result<Step, SessionError> {
        let (kind, is_read) = (self.kind(), self.conductor.reads_rows());
        let Some(link) = &mut self.linked.link else { return Ok(Step::Reads) };
        let dropped = verdict::of(&link.response, kind).and_then(|form| match form {
            Some(_) if is_read => Ok(()),
            Some(form) => self.answers.drop_part(form, &mut link.response.body),
            None => {
                link.response.body.clear();
                Ok(())
            }
        });
        if let Err(error) = dropped {
            self.linked.disconnect();
            return Err(error);
        }
        Ok(Step::Reads)
    }

    /// The server closed the line.
    fn closed(&mut self) -> Result<Step, SessionError> {
        let response = &mut self.linked.link_mut()?.response;
        if response.is_untouched() {
            return self
                .lost(SessionError::broken("the server closed the connection without an answer"));
        }
        if let Err(reason) = response.close() {
            self.linked.disconnect();
            return Err(SessionError::broken(format!("the server's answer ended early: {reason}")));
        }
        self.answered()
    }

    /// The response is whole.
    fn answered(&mut self) -> Result<Step, SessionError> {
        let kind = self.kind();
        let link = self.linked.link_mut()?;
        link.served = true;
        let closes = link.response.head.closes;
        let taken = verdict::of(&link.response, kind).and_then(|form| match form {
            Some(form) => self.answers.take(form, &mut link.response.body).map(|()| true),
            None => Ok(false),
        });
        if closes {
            self.linked.disconnect();
        }
        let rows =
            if taken? { self.answers.read_rows(&mut self.conductor, self.statement)? } else { 0 };
        self.conductor.answered(self.statement, rows)?;
        self.next()
    }
}

/// How a line is interrupted: it is closed.
fn means(link: &Link, cut: &Arc<AtomicBool>) -> Option<Means> {
    let (close_line, cut) = (closer(link.descriptor())?, Arc::clone(cut));
    let close = move || {
        cut.store(true, Ordering::Relaxed);
        close_line();
    };
    Some(Means { ask: Box::new(close.clone()), cut: Box::new(close) })
}

impl Session for SparqlSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        execute_waiting(self, operation)
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        self.answers.settle(self.linked.link.as_mut().map(|link| &mut link.response.body));
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

    fn canceller(&self) -> Option<Canceller> {
        Some(self.linked.canceller())
    }

    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        Some(self)
    }
}

impl LinkedSession for SparqlSession {
    type Link = Link;

    fn linked(&self) -> &Linked<Link> {
        &self.linked
    }

    fn linked_mut(&mut self) -> &mut Linked<Link> {
        &mut self.linked
    }

    fn start(&mut self, operation: u16) -> Result<Step, SessionError> {
        self.begin_operation(operation)
    }

    fn go_on(&mut self) -> Result<Step, SessionError> {
        self.read_answer()
    }

    fn go_on_anew(&mut self) -> Result<Step, SessionError> {
        self.connect()?;
        self.send()
    }
}
