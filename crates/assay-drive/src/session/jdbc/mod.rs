//! Any database that has a JDBC driver, through the bridge: a process in Java beside the driver's.
//!
//! An operation is one request, whose statements the bridge executes in order. Rows stay in the
//! receiving buffer until the clock was read. An operation that meets a lost connection fails, and
//! the next one connects anew, once. A transaction that an operation left open is rolled back by
//! the bridge before it answers.

pub mod link;
pub mod values;

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use assay_model::Script;

use self::link::{Config, Link, Reply};
use self::values::{Columns, in_column};
use super::interrupt::Interrupt;
use super::value::{Bound, Shape, Value};
use super::{
    Canceller, Fetched, HELD_BYTES_MAX, Session, SessionError, SharedSession, Step,
    execute_waiting, rows,
};
use crate::conductor::Conductor;
use crate::digest::RowDigest;

/// Rows that were digested before the operation ended, and the description of those to come.
#[derive(Default)]
struct Digesting {
    digest: RowDigest,
    dropped: bool,
    columns: Columns,
}

fn no_value(name: &str) -> SessionError {
    let message = format!("{name}: the bridge takes texts and whole numbers only");
    SessionError { class: "program".into(), message, retryable: false }
}

/// One connection to a database through the bridge.
pub struct JdbcSession {
    config: Config,
    /// The number of each operation's first statement.
    firsts: Vec<i32>,
    conductor: Conductor,
    link: Option<Link>,
    connections: u32,
    interrupt: Arc<Interrupt>,
    shares: bool,
    error: Option<SessionError>,
    lost: bool,
    digesting: Digesting,
}

impl JdbcSession {
    /// Opens session number `number` of a run. The script's statements have `?` for values.
    pub fn open(
        config: Config,
        script: Arc<Script>,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let mut next = 1;
        let firsts = script.operations.iter().map(|operation| {
            let first = next;
            next += operation.statements.len() as i32;
            first
        });
        let mut session = Self {
            firsts: firsts.collect(),
            conductor: Conductor::new(script, seed, number)?,
            config,
            link: None,
            connections: 0,
            interrupt: Arc::default(),
            shares: false,
            error: None,
            lost: false,
            digesting: Digesting::default(),
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), SessionError> {
        let script = self.conductor.script();
        let statements = script.operations.iter().flat_map(|operation| &operation.statements);
        let numbered = (1..).zip(statements.map(|statement| statement.text.as_str()));
        let mut link = Link::open(&self.config, numbered, script.prepared)?;
        self.interrupt.connected(link.means(&self.config));
        link.set_nonblocking(self.shares)?;
        self.link = Some(link);
        self.connections += 1;
        Ok(())
    }

    fn start(&mut self, operation: u16) -> Result<Step, SessionError> {
        if self.link.is_none() {
            self.connect()?;
        }
        self.conductor.begin(operation);
        self.interrupt.begin();
        self.error = None;
        self.lost = false;
        self.digesting.digest.clear();
        self.digesting.dropped = false;
        self.digesting.columns = Columns::default();
        self.link_mut()?.inbox.clear();
        self.ask(operation)
    }

    fn ask(&mut self, operation: u16) -> Result<Step, SessionError> {
        let conductor = &mut self.conductor;
        let first = self.firsts[usize::from(operation)];
        let link = self.link.as_mut().ok_or_else(|| link::gone("it was lost"))?;
        link.begin_execute(conductor.script().operations[usize::from(operation)].statements.len());
        // No statement waits for an answer of another one: programs that read rows are not played.
        while let Some(statement) = conductor.next_statement()? {
            link.asked(first + statement as i32, conductor.values().len());
            for (place, value) in conductor.values().enumerate() {
                match value {
                    Bound::Text(text) => link.text(text),
                    Bound::Integer(whole) => link.whole(whole),
                    _ => return Err(no_value(&conductor.value_name(place))),
                }
            }
        }
        link.end();
        self.flush()
    }

    fn link_mut(&mut self) -> Result<&mut Link, SessionError> {
        self.link.as_mut().ok_or_else(|| link::gone("it was lost"))
    }

    fn flush(&mut self) -> Result<Step, SessionError> {
        let sent = self.link_mut()?.flush();
        Ok(if self.checked(sent)? { Step::Reads } else { Step::Writes })
    }

    /// An error of the line ends it.
    fn checked<T>(&mut self, result: Result<T, SessionError>) -> Result<T, SessionError> {
        result.map_err(|error| {
            self.disconnect();
            self.error.take().unwrap_or(error)
        })
    }

    fn disconnect(&mut self) {
        self.link = None;
        self.interrupt.lost();
    }

    fn go_on(&mut self) -> Result<Step, SessionError> {
        if !self.link_mut()?.all_sent() && self.flush()? == Step::Writes {
            return Ok(Step::Writes);
        }
        loop {
            let step = self.parse()?;
            if step != Step::Reads {
                return Ok(step);
            }
            let read = self.link_mut()?.read();
            if !self.checked(read)? {
                return Ok(Step::Reads);
            }
        }
    }

    /// Handles all messages that are there.
    fn parse(&mut self) -> Result<Step, SessionError> {
        loop {
            let reply = self.link_mut()?.reply();
            match self.checked(reply)? {
                None => return Ok(Step::Reads),
                Some(Reply::Error(error, lost)) => {
                    self.error.get_or_insert(error);
                    self.lost |= lost;
                }
                Some(Reply::Row) => {
                    let held = self.hold();
                    self.checked(held)?;
                }
                Some(Reply::Ready) => {
                    if self.lost {
                        self.disconnect();
                    }
                    return self.error.take().map_or(Ok(Step::Ended), Err);
                }
            }
        }
    }

    /// Keeps what is held within its limit.
    fn hold(&mut self) -> Result<(), SessionError> {
        if self.link_mut()?.inbox.kept_bytes() < HELD_BYTES_MAX {
            return Ok(());
        }
        self.digest_held()?;
        self.digesting.dropped = true;
        self.link_mut()?.inbox.clear();
        Ok(())
    }

    /// Digests the rows that are held. Where whole numbers and fractions turn out to share a
    /// column, once more with all of them floating, if nothing was dropped yet.
    fn digest_held(&mut self) -> Result<(), SessionError> {
        let Some(link) = &self.link else { return Ok(()) };
        let Digesting { digest, dropped, columns } = &mut self.digesting;
        let mixed = digest_rows(link, digest, columns, &[]).map_err(link::unreadable)?;
        if !*dropped && mixed.iter().flatten().any(|floating| *floating) {
            digest.clear();
            *columns = Columns::default();
            digest_rows(link, digest, columns, &mixed).map_err(link::unreadable)?;
        }
        Ok(())
    }
}

/// Digests the held rows of all results; which of their columns hold both kinds of numbers, by
/// result. `floating` are those whose numbers are all taken as floating.
fn digest_rows(
    link: &Link,
    digest: &mut RowDigest,
    columns: &mut Columns,
    floating: &[Vec<bool>],
) -> Result<Vec<Vec<bool>>, String> {
    let mut mixed = Vec::new();
    let tell = |columns: &Columns| columns.seen.iter().map(|seen| seen.is_floating()).collect();
    for (tag, body) in link.inbox.messages() {
        match tag {
            b'T' => {
                if !columns.seen.is_empty() {
                    mixed.push(tell(columns));
                }
                *columns = Columns::read(body)?;
            }
            b'D' => {
                let known = floating.get(mixed.len());
                columns.each_value(body, |index, value| {
                    let floats = known.is_some_and(|columns| columns[index]);
                    in_column(value, floats).digest(digest);
                })?;
                digest.end_row();
            }
            _ => {}
        }
    }
    mixed.push(tell(columns));
    Ok(mixed)
}

impl Session for JdbcSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        execute_waiting(self, operation)
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        self.digest_held()?;
        Ok(Fetched::of(&self.digesting.digest))
    }

    /// Keeps the rows of the last result.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        let Some(link) = self.link.as_ref().filter(|_| !self.digesting.dropped) else {
            return Ok(());
        };
        let mut columns = Columns::default();
        let mut values: Vec<Vec<Value<'_>>> = Vec::new();
        for (tag, body) in link.inbox.messages() {
            if tag == b'T' {
                columns = Columns::read(body).map_err(link::unreadable)?;
                values = columns.described.iter().map(|_| Vec::new()).collect();
            } else if tag == b'D' {
                let keep = |column: usize, value| values[column].push(value);
                columns.each_value(body, keep).map_err(link::unreadable)?;
            }
        }
        if columns.described.is_empty() {
            return Ok(());
        }
        let seen = columns.seen.iter();
        for (values, seen) in values.iter_mut().zip(seen.clone()) {
            for value in values.iter_mut().filter(|_| seen.is_floating()) {
                *value = in_column(std::mem::replace(value, Value::Null), true);
            }
        }
        let kept = columns.described.iter().zip(seen);
        let kept: Vec<(&str, Shape)> =
            kept.map(|((name, declared), seen)| (name.as_str(), seen.kept_as(*declared))).collect();
        rows::write(path, &kept, &values).map_err(|error| link::unreadable(error.to_string()))
    }

    fn release(&mut self) {
        self.conductor.release();
    }

    fn canceller(&self) -> Option<Canceller> {
        let interrupt = Arc::clone(&self.interrupt);
        Some(Box::new(move || interrupt.ask()))
    }

    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        Some(self)
    }
}

impl SharedSession for JdbcSession {
    fn share(&mut self) -> Result<(), SessionError> {
        self.shares = true;
        self.link_mut()?.set_nonblocking(true)
    }

    fn connection(&self) -> Option<(BorrowedFd<'_>, u32)> {
        Some((self.link.as_ref()?.descriptor(), self.connections))
    }

    fn begin(&mut self, operation: u16) -> Result<Step, SessionError> {
        self.start(operation)
    }

    fn advance(&mut self) -> Result<Step, SessionError> {
        self.go_on()
    }
}
