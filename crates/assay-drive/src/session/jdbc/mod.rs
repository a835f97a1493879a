//! Any database that has a JDBC driver, through the bridge: a process in Java beside the driver's.
//!
//! An operation is one request, whose statements the bridge executes in order. Rows stay in the
//! receiving buffer until the clock was read. An operation that meets a lost connection fails, and
//! the next one connects anew, once. A transaction that an operation left open is rolled back by
//! the bridge before it answers.

pub mod link;
pub mod values;

use std::path::Path;
use std::sync::Arc;

use assay_model::Script;

use self::link::{Config, Link, Reply};
use self::values::{Columns, in_column};
use super::linked::{Linked, LinkedSession, exchange};
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
    linked: Linked<Link>,
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
            linked: Linked::default(),
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
        self.linked.connect(|attempt| {
            let link = Link::open(&self.config, numbered, script.prepared, attempt)?;
            let means = link.means(&self.config);
            Ok((link, means, ()))
        })
    }

    fn begin_operation(&mut self, operation: u16) -> Result<Step, SessionError> {
        if self.linked.link.is_none() {
            self.connect()?;
        }
        self.conductor.begin(operation);
        self.linked.begin();
        self.lost = false;
        self.digesting.digest.clear();
        self.digesting.dropped = false;
        self.digesting.columns = Columns::default();
        self.linked.link_mut()?.line.inbox.clear();
        self.ask(operation)
    }

    fn ask(&mut self, operation: u16) -> Result<Step, SessionError> {
        let conductor = &mut self.conductor;
        let first = self.firsts[usize::from(operation)];
        let link = self.linked.link_mut()?;
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
        self.linked.flush()
    }

    /// Handles all messages that are there.
    fn parse(&mut self) -> Result<Step, SessionError> {
        loop {
            let reply = self.linked.link_mut()?.reply();
            match self.linked.checked(reply)? {
                None => return Ok(Step::Reads),
                Some(Reply::Error(error, lost)) => {
                    self.linked.error.get_or_insert(error);
                    self.lost |= lost;
                }
                Some(Reply::Row) => {
                    let held = self.hold();
                    self.linked.checked(held)?;
                }
                Some(Reply::Ready) => {
                    if self.lost {
                        self.linked.disconnect();
                    }
                    return self.linked.ended();
                }
            }
        }
    }

    /// Keeps what is held within its limit.
    fn hold(&mut self) -> Result<(), SessionError> {
        if self.linked.link_mut()?.line.inbox.kept_bytes() < HELD_BYTES_MAX {
            return Ok(());
        }
        self.digest_held()?;
        self.digesting.dropped = true;
        self.linked.link_mut()?.line.inbox.clear();
        Ok(())
    }

    /// Digests the rows that are held. Where whole numbers and fractions turn out to share a
    /// column, once more with all of them floating, if nothing was dropped yet.
    fn digest_held(&mut self) -> Result<(), SessionError> {
        let Some(link) = &self.linked.link else { return Ok(()) };
        let Digesting { digest, dropped, columns } = &mut self.digesting;
        let mixed = digest_rows(link, digest, columns, &[]).map_err(SessionError::unreadable)?;
        if !*dropped && mixed.iter().flatten().any(|floating| *floating) {
            digest.clear();
            *columns = Columns::default();
            digest_rows(link, digest, columns, &mixed).map_err(SessionError::unreadable)?;
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
    for (tag, body) in link.line.inbox.messages() {
        match tag {
            b'T' => {
                if !columns.seen.is_empty() {
                    mixed.push(tell(columns));
                }
                *columns = Columns::read(body)?;
            }
            b'D' => {
                let as_floating = floating.get(mixed.len());
                columns.each_value(body, |index, value| {
                    let floats = as_floating.is_some_and(|columns| columns[index]);
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
        self.linked.settle();
        self.digest_held()?;
        Ok(Fetched::of(&self.digesting.digest))
    }

    /// Keeps the rows of the last result.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        let Some(link) = self.linked.link.as_ref().filter(|_| !self.digesting.dropped) else {
            return Ok(());
        };
        let mut columns = Columns::default();
        let mut values: Vec<Vec<Value<'_>>> = Vec::new();
        for (tag, body) in link.line.inbox.messages() {
            if tag == b'T' {
                columns = Columns::read(body).map_err(SessionError::unreadable)?;
                values = columns.described.iter().map(|_| Vec::new()).collect();
            } else if tag == b'D' {
                let keep = |column: usize, value| values[column].push(value);
                columns.each_value(body, keep).map_err(SessionError::unreadable)?;
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
        rows::write(path, &kept, &values)
            .map_err(|error| SessionError::unreadable(error.to_string()))
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

impl LinkedSession for JdbcSession {
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
        exchange(self, Self::parse)
    }
}
