//! PostgreSQL, version 3 of its protocol. The session itself encodes requests and parses answers;
//! it reads and writes through a stream that blocks (a thread a session) or does not (a thread
//! several sessions).
//!
//! An operation that meets a lost connection fails; the next one connects anew, once, and fails
//! too if that is refused. Each connect chooses among the servers of the description. A transaction that an operation left open or broken is rolled back
//! before the operation ends, within its time.

pub mod batch;
pub mod cancel;
pub mod choosing;
pub mod config;
#[cfg(test)]
mod config_tests;
pub mod copy;
pub mod dsn;
pub mod link;
pub mod passwords;
pub mod proofs;
mod proving;
pub mod role;
pub mod startup;
pub mod values;

use std::path::Path;
use std::sync::Arc;

use assay_model::{Script, ScriptOperation, SplitMix, split_mix};

use self::batch::{After, BATCH_BYTES_MAX, Batch};
use self::config::Config;
use self::link::{Link, Reply};
use self::values::{Column, each_value};
use super::inbox::Message;
use super::linked::{Linked, LinkedSession, exchange};
use super::value::{Shape, Value};
use super::{
    Backend, Canceller, Fetched, HELD_BYTES_MAX, Session, SessionError, SharedSession, Step,
    execute_waiting, rows,
};
use crate::conductor::Conductor;
use crate::digest::RowDigest;

/// Keeps the order of servers apart from other numbers that are drawn from a run's seed.
const ORDER: u64 = 0x6F72_6465_7220_6F66;

/// What the session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Nothing,
    Describing,
    Executing,
    RollingBack,
}

/// What the server told of a statement.
#[derive(Clone, Debug)]
pub struct Described {
    parameters: Vec<u32>,
    columns: Arc<[Column]>,
}

/// Rows that were digested before the operation ended, and the place in what is still held.
#[derive(Default)]
struct Digesting {
    digest: RowDigest,
    dropped: bool,
    /// The statement that the first held message answers.
    statement: usize,
}

/// One connection to a PostgreSQL server.
pub struct PostgresSession {
    config: Config,
    conductor: Conductor,
    linked: Linked<Link>,
    backend: Option<Backend>,
    /// The address of the server, until the record has it.
    server: Option<String>,
    /// Draws the order in which servers are tried, where it is random.
    random: SplitMix,
    names: Vec<Vec<String>>,
    /// Errors that another attempt may cure on this server.
    passing: Arc<[String]>,
    described: Vec<Vec<Option<Described>>>,
    operation: usize,
    /// The statement that the conductor named last.
    statement: usize,
    batch: Batch,
    /// Whether a statement of the operation was executed.
    sent_any: bool,
    doing: Doing,
    digesting: Digesting,
}

impl PostgresSession {
    /// Opens session number `number` of a run. `passing` are errors, by SQLSTATE, that another attempt
    /// may cure on this server, in operations that are statements only: a program of ours never
    /// makes one key twice, so there such an error is a defect.
    pub fn open(
        config: Config,
        script: Arc<Script>,
        seed: u64,
        number: u32,
        passing: Vec<String>,
    ) -> Result<Self, SessionError> {
        let described = script.operations.iter().map(|o| vec![None; o.statements.len()]).collect();
        let named = |(operation, asked): (usize, &ScriptOperation)| {
            (0..asked.statements.len()).map(|number| format!("s{operation}_{number}")).collect()
        };
        let mut session = Self {
            names: script.operations.iter().enumerate().map(named).collect(),
            config,
            passing: passing.into(),
            conductor: Conductor::new(script, seed, number)?,
            linked: Linked::default(),
            backend: None,
            server: None,
            random: SplitMix::new(split_mix(seed ^ ORDER) ^ split_mix(u64::from(number))),
            described,
            operation: 0,
            statement: 0,
            batch: Batch::default(),
            sent_any: false,
            doing: Doing::Nothing,
            digesting: Digesting::default(),
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), SessionError> {
        let (server, backend_pid) = self.linked.connect(|attempt| {
            let connection = choosing::connect(&self.config, &mut self.random, attempt)?;
            let server = connection.endpoint.address.to_string();
            let backend_pid = connection.backend_pid;
            let means = cancel::means(&self.config, &connection);
            let link = Link::new(connection, Arc::clone(&self.passing));
            Ok((link, means, (server, backend_pid)))
        })?;
        self.server = Some(server);
        self.backend = u32::try_from(backend_pid).ok().map(Backend::Process);
        for statements in &mut self.described {
            statements.fill(None);
        }
        Ok(())
    }

    fn begin_operation(&mut self, operation: u16) -> Result<Step, SessionError> {
        if self.linked.link.is_none() {
            self.connect()?;
        }
        let script = self.conductor.script();
        let is_plain = script.operations[usize::from(operation)].program.is_none();
        if let Some(link) = &mut self.linked.link {
            link.knows_passing = is_plain;
        }
        self.conductor.begin(operation);
        self.linked.begin();
        self.operation = usize::from(operation);
        self.sent_any = false;
        self.digesting.digest.clear();
        self.digesting.dropped = false;
        self.digesting.statement = 0;
        self.linked.link_mut()?.line.inbox.clear();
        match self.conductor.next_statement()? {
            Some(statement) => {
                self.statement = statement;
                self.send()
            }
            None => Ok(Step::Ended),
        }
    }

    /// Sends the statement that is next and those that may go with it, or the request to describe it.
    fn send(&mut self) -> Result<Step, SessionError> {
        self.batch.clear();
        loop {
            if self.described[self.operation][self.statement].is_none() {
                if self.batch.is_empty() {
                    return self.describe();
                }
                self.batch.after = After::Held;
                break;
            }
            if let Err(error) = self.encode() {
                return self.unsendable(error);
            }
            self.batch.add(self.statement);
            if !self.conductor.may_go_on()
                || self.linked.link_mut()?.line.out.unsent() > BATCH_BYTES_MAX
            {
                break;
            }
            match self.conductor.next_statement() {
                Ok(Some(statement)) => self.statement = statement,
                Ok(None) => {
                    self.batch.after = After::Ended;
                    break;
                }
                Err(error) => return self.unsendable(error),
            }
        }
        self.doing = Doing::Executing;
        self.sent_any = true;
        self.linked.link_mut()?.sync();
        self.linked.flush()
    }

    fn describe(&mut self) -> Result<Step, SessionError> {
        self.doing = Doing::Describing;
        let prepared = self.conductor.script().prepared;
        let name = self.names[self.operation][self.statement].as_str();
        let link = self.linked.link_mut()?;
        link.describe(if prepared { name } else { "" }, &self.conductor.statement().text)?;
        self.linked.flush()
    }

    /// Writes the execution of the statement that is next, which is described.
    fn encode(&mut self) -> Result<(), SessionError> {
        let (operation, statement) = (self.operation, self.statement);
        let Some(described) = &self.described[operation][statement] else {
            return Err(SessionError::unreadable("a statement is executed that was not described"));
        };
        let link = self.linked.link_mut()?;
        if self.conductor.script().prepared {
            return link.execute(&self.names[operation][statement], described, &self.conductor);
        }
        link.parse(&self.conductor.statement().text)?;
        link.execute("", described, &self.conductor)
    }

    /// A statement that cannot be sent: what came before it is undone.
    fn unsendable(&mut self, error: SessionError) -> Result<Step, SessionError> {
        self.linked.link_mut()?.line.out.clear();
        if !self.sent_any {
            self.doing = Doing::Nothing;
            return Err(error);
        }
        self.linked.error.get_or_insert(error);
        self.roll_back()
    }

    fn roll_back(&mut self) -> Result<Step, SessionError> {
        self.doing = Doing::RollingBack;
        self.linked.link_mut()?.simple("rollback")?;
        self.linked.flush()
    }

    /// Handles all messages that are there.
    fn parse(&mut self) -> Result<Step, SessionError> {
        loop {
            let reply = self.linked.link_mut()?.reply();
            match self.linked.checked(reply)? {
                None => return Ok(Step::Reads),
                Some(Reply::Error(error)) => {
                    self.linked.error.get_or_insert(error);
                }
                Some(Reply::Described(described)) => {
                    self.described[self.operation][self.statement] = Some(described);
                }
                Some(Reply::Complete(rows)) => self.completed(rows),
                Some(Reply::Row(row)) if self.conductor.reads_rows() => self.hand_over(row)?,
                Some(Reply::Row(_)) => {
                    let held = self.hold();
                    self.linked.checked(held)?;
                }
                Some(Reply::Ready(status)) => {
                    let step = self.ready(status)?;
                    if step != Step::Reads {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// The server awaits the next request.
    fn ready(&mut self, status: u8) -> Result<Step, SessionError> {
        match self.doing {
            Doing::Describing if self.linked.error.is_none() => return self.send(),
            Doing::Executing if self.linked.error.is_none() => match self.answered() {
                Ok(true) => return self.send(),
                Ok(false) => {}
                Err(error) => self.linked.error = Some(error),
            },
            _ => {}
        }
        if status != b'I' && self.doing != Doing::RollingBack {
            self.linked.error.get_or_insert_with(SessionError::open_transaction);
            return self.roll_back();
        }
        if status != b'I' {
            // Rolling back was interrupted: only a new connection is without the transaction.
            self.linked.disconnect();
        }
        self.doing = Doing::Nothing;
        self.linked.ended()
    }

    /// The answer of a statement is whole.
    fn completed(&mut self, rows: u64) {
        if self.doing == Doing::Executing
            && self.linked.error.is_none()
            && let Some(statement) = self.batch.completed(rows)
        {
            self.linked.error = self.conductor.answered(statement, rows).err();
        }
    }

    /// All that was sent is answered; whether there is a statement that is next.
    fn answered(&mut self) -> Result<bool, SessionError> {
        if let Some((statement, rows)) = self.batch.last() {
            self.conductor.answered(statement, rows)?;
        }
        if self.conductor.reads_rows() {
            self.linked.link_mut()?.line.inbox.clear();
        }
        match self.batch.after {
            After::Held => return Ok(true),
            After::Ended => return Ok(false),
            After::Asked => {}
        }
        let next = self.conductor.next_statement()?;
        self.statement = next.unwrap_or(self.statement);
        Ok(next.is_some())
    }

    /// Has a program read a row that came.
    fn hand_over(&mut self, row: Message) -> Result<(), SessionError> {
        let statement = self.batch.answering();
        let described =
            statement.and_then(|number| self.described[self.operation][number].as_ref());
        let (Some(statement), Some(Described { columns, .. })) = (statement, described) else {
            return Err(SessionError::unreadable("a row of a statement that was not described"));
        };
        let link = self.linked.link()?;
        let conductor = &mut self.conductor;
        let mut read = Ok(());
        each_value(link.line.inbox.body(row), columns, |column, value| {
            if read.is_ok() {
                read = conductor.cell(statement, column, &value);
            }
        })
        .map_err(SessionError::unreadable)?;
        let ended = read.and_then(|()| conductor.end_row(statement));
        if let Err(error) = ended {
            // What else comes is read to its end first.
            self.linked.error.get_or_insert(error);
        }
        Ok(())
    }

    /// Keeps what is held within its limit.
    fn hold(&mut self) -> Result<(), SessionError> {
        if self.linked.link_mut()?.line.inbox.kept_bytes() < HELD_BYTES_MAX {
            return Ok(());
        }
        self.digest_held()?;
        self.digesting.dropped = true;
        self.digesting.statement = self.batch.answering().unwrap_or(self.statement);
        self.linked.link_mut()?.line.inbox.clear();
        Ok(())
    }

    /// Digests the rows that are held.
    fn digest_held(&mut self) -> Result<(), SessionError> {
        let digest = &mut self.digesting.digest;
        let described = &self.described[self.operation];
        let Some(link) = &self.linked.link else { return Ok(()) };
        for (statement, row) in link.rows(self.digesting.statement) {
            let Some(Some(Described { columns, .. })) = described.get(statement) else {
                return Err(SessionError::unreadable("rows of a statement that was not described"));
            };
            each_value(row, columns, |_, value| value.digest(digest))
                .map_err(SessionError::unreadable)?;
            digest.end_row();
        }
        Ok(())
    }
}

impl Session for PostgresSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        execute_waiting(self, operation)
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        self.linked.settle();
        if let Some(fetched) = Fetched::read_by(&self.conductor) {
            return Ok(fetched);
        }
        self.digest_held()?;
        Ok(Fetched::of(&self.digesting.digest))
    }

    /// Keeps the rows of the last statement that returns any.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        let Some(link) = self.linked.link.as_ref().filter(|_| !self.digesting.dropped) else {
            return Ok(());
        };
        let described = self.described[self.operation].iter().enumerate().rev();
        let with_rows =
            described.filter_map(|(number, statement)| Some((number, statement.as_ref()?)));
        let Some((number, Described { columns, .. })) =
            with_rows.into_iter().find(|(_, statement)| !statement.columns.is_empty())
        else {
            return Ok(());
        };
        let mut values: Vec<Vec<Value<'_>>> = columns.iter().map(|_| Vec::new()).collect();
        for (_, row) in link.rows(0).filter(|(statement, _)| *statement == number) {
            each_value(row, columns, |column, value| values[column].push(value))
                .map_err(SessionError::unreadable)?;
        }
        let shapes: Vec<(&str, Shape)> =
            columns.iter().map(|column| (column.name.as_str(), column.kind.shape())).collect();
        rows::write(path, &shapes, &values)
            .map_err(|error| SessionError::unreadable(error.to_string()))
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

    fn take_backend(&mut self) -> Option<Backend> {
        self.backend.take()
    }

    fn take_server(&mut self) -> Option<String> {
        self.server.take()
    }

    /// Hands in what the server's process counted of itself (PostgreSQL 15 and newer).
    fn settle(&mut self) {
        let Some(link) = &mut self.linked.link else { return };
        if link.version() >= link::VERSION_WITH_FLUSH
            && let Err(error) = link.ask("select pg_stat_force_next_flush()")
        {
            // The next operation meets what is wrong with the connection, and tells it.
            let _: Result<(), SessionError> = self.linked.checked(Err(error));
        }
    }

    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        Some(self)
    }
}

impl LinkedSession for PostgresSession {
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
