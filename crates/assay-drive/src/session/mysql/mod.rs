//! MySQL's protocol, as MySQL, MariaDB and Dolt speak it. The session itself encodes requests and
//! parses answers; it reads and writes through a stream that blocks (a thread a session) or does not
//! (a thread several sessions).
//!
//! An operation that meets a lost connection fails; the next one connects anew, once, and fails
//! too if that is refused. A transaction that an operation left open or broken is rolled back
//! before the operation ends, within its time.
//!
//! Where answers need not be awaited, only statements that read are sent ahead: a deadlock ends the
//! whole transaction, and what came behind it would be committed by itself.

pub mod cancel;
pub mod cells;
pub mod config;
pub mod held;
pub mod link;
pub mod load;
pub mod packets;
mod proving;
pub mod startup;
pub mod statements;
pub mod values;

use std::path::Path;
use std::sync::Arc;

use assay_model::Script;

use self::cancel::Cancel;
use self::config::Config;
use self::held::Digesting;
use self::link::{Definitions, Link, NEEDS_REPREPARE, NOT_PREPARED, Reply, Request};
use self::startup::ServerError;
use self::statements::{Prepared, with_places};
use self::values::{Column, each_value};
use super::inbox::Message;
use super::interrupt::Means;
use super::linked::{Link as _, Linked, LinkedSession, closer, exchange};
use super::{
    Backend, Canceller, Fetched, HELD_BYTES_MAX, Session, SessionError, SharedSession, Step,
    execute_waiting,
};
use crate::conductor::Conductor;

/// No more is sent ahead than so many bytes and one statement: what is written must not wait for
/// answers to be read.
const BATCH_BYTES_MAX: usize = 16 << 10;

/// How a statement is executed.
#[derive(Clone, Debug)]
enum Way {
    /// Nothing was asked of the server yet.
    Unknown,
    /// By its number.
    Prepared(Prepared),
    /// As text, because the server does not prepare it.
    Text,
}

/// Which statement is to be sent once all answers have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The conductor is to be asked.
    Asked,
    /// The one that it named last.
    Held(usize),
    /// None: the operation ends.
    Ended,
}

/// What is known of a statement.
#[derive(Clone, Debug)]
struct StatementState {
    way: Way,
    definitions: Definitions,
    columns: Arc<[Column]>,
}

impl StatementState {
    fn nothing() -> Self {
        Self { way: Way::Unknown, definitions: Definitions::default(), columns: Arc::default() }
    }

    /// Takes the columns that were told, if they are others than before.
    fn take(&mut self, definitions: &Definitions) -> Result<(), SessionError> {
        if self.definitions != *definitions {
            let columns = definitions.iter().map(Column::read).collect::<Result<_, _>>();
            self.columns = columns.map_err(SessionError::unreadable)?;
            self.definitions.clone_from(definitions);
        }
        Ok(())
    }
}

/// One connection to a server.
pub struct MysqlSession {
    config: Config,
    conductor: Conductor,
    linked: Linked<Link>,
    backend: Option<Backend>,
    /// The address of the server, until the record has it; of several servers only.
    server: Option<String>,
    states: Vec<Vec<StatementState>>,
    operation: usize,
    next: Next,
    rolling_back: bool,
    /// The server closes the line after what it said.
    closes: bool,
    digesting: Digesting,
}

impl MysqlSession {
    /// Opens session number `number` of a run.
    pub fn open(
        config: Config,
        script: Arc<Script>,
        seed: u64,
        number: u32,
    ) -> Result<Self, SessionError> {
        let states =
            script.operations.iter().map(|o| vec![StatementState::nothing(); o.statements.len()]);
        let mut session = Self {
            states: states.collect(),
            config,
            conductor: Conductor::new(Arc::new(with_places(&script)), seed, number)?,
            linked: Linked::default(),
            backend: None,
            server: None,
            operation: 0,
            next: Next::Asked,
            rolling_back: false,
            closes: false,
            digesting: Digesting::default(),
        };
        session.connect()?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), SessionError> {
        let (place, id) = self.linked.connect(|attempt| {
            let (config, link) = Link::open_first(&self.config, attempt)?;
            let (means, id) = (means(&config, &link), link.id());
            Ok((link, means, (config.place(), id)))
        })?;
        self.server = (!self.config.others.is_empty()).then(|| place.to_string());
        self.backend = Some(Backend::Connection(id));
        self.states.iter_mut().for_each(|statements| statements.fill(StatementState::nothing()));
        Ok(())
    }

    fn begin_operation(&mut self, operation: u16) -> Result<Step, SessionError> {
        if self.linked.link.is_none() {
            self.connect()?;
        }
        self.conductor.begin(operation);
        self.linked.begin();
        self.operation = usize::from(operation);
        self.rolling_back = false;
        self.closes = false;
        self.digesting.clear();
        let hands_out_after = if self.conductor.reads_rows() { 0 } else { HELD_BYTES_MAX };
        let link = self.linked.link_mut()?;
        link.line.inbox.clear();
        link.take_affected();
        link.hands_out_after = hands_out_after;
        link.rows_end = 0;
        self.name_next()?;
        if self.next == Next::Ended { Ok(Step::Ended) } else { self.send() }
    }

    fn name_next(&mut self) -> Result<(), SessionError> {
        self.next = self.conductor.next_statement()?.map_or(Next::Ended, Next::Held);
        Ok(())
    }

    /// Sends the statement that is due, or the request to prepare it, and what may be sent with it.
    fn send(&mut self) -> Result<Step, SessionError> {
        while let Next::Held(statement) = self.next {
            match self.encode(statement) {
                Ok(true) => self.next = Next::Asked,
                Ok(false) => break,
                Err(error) => return self.unsendable(error),
            }
            if !self.conductor.may_go_on() {
                break;
            }
            if let Err(error) = self.name_next() {
                return self.unsendable(error);
            }
            if !self.goes_ahead() {
                break;
            }
        }
        self.linked.flush()
    }

    /// Whether the statement that is due only reads, and the server knows it.
    fn goes_ahead(&self) -> bool {
        let Next::Held(statement) = self.next else { return false };
        let text = self.conductor.statement().text.as_bytes();
        let reads = text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"select"));
        let waiting = self.linked.link.as_ref().map_or(0, |link| link.line.out.unsent());
        reads
            && waiting < BATCH_BYTES_MAX
            && !matches!(self.states[self.operation][statement].way, Way::Unknown)
    }

    /// Encodes a statement's execution; false if it must be prepared before.
    fn encode(&mut self, statement: usize) -> Result<bool, SessionError> {
        let by_number = self.conductor.script().prepared || self.conductor.values().len() > 0;
        let state = &mut self.states[self.operation][statement];
        let link = self.linked.link_mut()?;
        let text = &self.conductor.statement().text;
        match &mut state.way {
            Way::Unknown if by_number => {
                link.prepare(statement, text);
                return Ok(false);
            }
            Way::Prepared(prepared) => link.execute(statement, prepared, &self.conductor)?,
            Way::Unknown | Way::Text => link.query(Request::Text(statement), text),
        }
        Ok(true)
    }

    /// A statement that cannot be sent: what came before it is undone.
    fn unsendable(&mut self, error: SessionError) -> Result<Step, SessionError> {
        self.linked.error.get_or_insert(error);
        if self.linked.link_mut()?.unanswered() > 0 {
            return self.linked.flush();
        }
        self.end()
    }

    /// Handles all answers that are there.
    fn parse(&mut self) -> Result<Step, SessionError> {
        loop {
            let link = self.linked.link_mut()?;
            let asked = link.answering();
            let reply = link.reply();
            let Some(reply) = self.linked.checked(reply)? else { return Ok(Step::Reads) };
            let Some(asked) = asked else {
                self.hear(reply);
                continue;
            };
            let ends = !matches!(reply, Reply::Row(_) | Reply::Columns(_) | Reply::SendFile);
            let taken = self.take(asked, reply);
            self.linked.checked(taken)?;
            if ends && self.linked.link_mut()?.unanswered() == 0 {
                let step = self.answered()?;
                if step != Step::Reads {
                    return Ok(step);
                }
            }
        }
    }

    /// What is said to nobody's question is said before the line is closed.
    fn hear(&mut self, reply: Reply) {
        if let Reply::Error(error) = reply {
            self.linked.error.get_or_insert(link::failed(error).0);
        }
    }

    /// Takes a part of an answer. Errors are those of a connection that is of no more use.
    fn take(&mut self, asked: Request, reply: Reply) -> Result<(), SessionError> {
        let link = self.linked.link_mut()?;
        let state = match asked {
            Request::Prepare(statement)
            | Request::Execute(statement)
            | Request::Text(statement) => {
                Some((statement, &mut self.states[self.operation][statement]))
            }
            Request::Command => None,
        };
        match (reply, state) {
            (Reply::Prepared(id, takes), Some((_, state))) => {
                state.way = Way::Prepared(Prepared::new(id, takes));
                state.take(&link.definitions)?;
            }
            (Reply::Columns(has_definitions), Some((_, state))) => {
                if has_definitions {
                    state.take(&link.definitions)?;
                }
                if !self.conductor.reads_rows() {
                    self.digesting.begin_result(
                        link,
                        Arc::clone(&state.columns),
                        asked.is_binary(),
                    );
                }
            }
            (Reply::Row(row), Some((statement, _))) if self.conductor.reads_rows() => {
                self.hand_over(statement, asked.is_binary(), row)?;
            }
            (Reply::Row(_), Some(_)) => self.digesting.drop_held(link)?,
            (Reply::Done, Some((statement, _))) => self.done(statement)?,
            (Reply::Error(error), _) => self.refused(asked, error),
            (Reply::SendFile, _) => {
                return Err(SessionError::unreadable(
                    "an operation cannot load a file of the client",
                ));
            }
            (_, None) => {}
        }
        Ok(())
    }

    /// Notes the answer of a statement. What is wrong with it is the operation's error.
    fn done(&mut self, statement: usize) -> Result<(), SessionError> {
        let link = self.linked.link_mut()?;
        let rows = link.take_affected();
        if self.conductor.reads_rows() {
            link.line.inbox.clear();
        } else {
            self.digesting.end_result(link.rows_end);
        }
        if self.linked.error.is_none()
            && let Err(error) = self.conductor.answered(statement, rows)
        {
            self.linked.error = Some(error);
        }
        if !self.conductor.script().prepared {
            self.forget(statement);
        }
        Ok(())
    }

    /// A statement that is parsed and planned anew each time is not known to the server any more.
    fn forget(&mut self, statement: usize) {
        let state = &mut self.states[self.operation][statement];
        if let (Way::Prepared(prepared), Some(link)) = (&state.way, &mut self.linked.link) {
            link.close(prepared.id);
            state.way = Way::Unknown;
        }
    }

    /// Notes an error of the server, or goes another way.
    fn refused(&mut self, asked: Request, error: ServerError) {
        let states = &mut self.states[self.operation];
        match asked {
            Request::Prepare(statement)
                if error.number == NOT_PREPARED && self.conductor.values().len() == 0 =>
            {
                states[statement].way = Way::Text;
                return;
            }
            Request::Execute(statement) if error.number == NEEDS_REPREPARE => {
                states[statement].way = Way::Unknown;
            }
            Request::Execute(statement) => {
                if let Way::Prepared(prepared) = &mut states[statement].way {
                    prepared.forget_types();
                }
                if !self.conductor.script().prepared {
                    self.forget(statement);
                }
            }
            _ => {}
        }
        let (error, closes) = link::failed(error);
        self.closes |= closes;
        self.linked.error.get_or_insert(error);
    }

    /// All that was sent is answered.
    fn answered(&mut self) -> Result<Step, SessionError> {
        if self.linked.error.is_some() || self.rolling_back {
            return self.end();
        }
        if self.next == Next::Asked
            && let Err(error) = self.name_next()
        {
            self.linked.error = Some(error);
            return self.end();
        }
        if self.next == Next::Ended { self.end() } else { self.send() }
    }

    /// Ends the operation, and before that what it left open.
    fn end(&mut self) -> Result<Step, SessionError> {
        if self.closes {
            self.linked.disconnect();
            return self.linked.error.take().map_or_else(|| Err(Link::lost()), Err);
        }
        let failed = self.linked.error.is_some();
        let link = self.linked.link_mut()?;
        let open = if failed { link.may_be_in_transaction() } else { link.in_transaction() };
        let stays_open = link.in_transaction();
        if self.rolling_back {
            if stays_open {
                // Rolling back was interrupted: only a new connection is without the transaction.
                self.linked.disconnect();
            }
        } else if open {
            self.linked.error.get_or_insert_with(SessionError::open_transaction);
            self.rolling_back = true;
            self.linked.link_mut()?.query(Request::Command, "rollback");
            return self.linked.flush();
        }
        self.linked.ended()
    }

    /// Has a program read a row that came.
    fn hand_over(
        &mut self,
        statement: usize,
        binary: bool,
        row: Message,
    ) -> Result<(), SessionError> {
        let columns = &self.states[self.operation][statement].columns;
        let link = self.linked.link()?;
        let conductor = &mut self.conductor;
        let mut read = Ok(());
        each_value(link.line.inbox.body(row), columns, binary, |column, value| {
            if read.is_ok() {
                read = conductor.cell(statement, column, &value);
            }
        })
        .map_err(SessionError::unreadable)?;
        if let Err(error) = read.and_then(|()| conductor.end_row(statement)) {
            // What else comes is read to its end first.
            self.linked.error.get_or_insert(error);
        }
        Ok(())
    }
}

/// How a connection is interrupted: over a line of its own, or by closing it.
fn means(config: &Config, link: &Link) -> Option<Means> {
    let cancel = Cancel::new(config, link.id());
    let cut = Box::new(closer(link.descriptor())?);
    Some(Means { ask: Box::new(move || cancel.send()), cut })
}

impl Session for MysqlSession {
    fn execute(&mut self, operation: u16) -> Result<(), SessionError> {
        execute_waiting(self, operation)
    }

    fn fetched(&mut self) -> Result<Fetched, SessionError> {
        self.linked.settle();
        if let Some(fetched) = Fetched::read_by(&self.conductor) {
            return Ok(fetched);
        }
        if let Some(link) = &self.linked.link {
            self.digesting.digest_held(link)?;
        }
        Ok(Fetched::of(&self.digesting.digest))
    }

    /// Keeps the rows of the last result that has any columns.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError> {
        self.linked.link.as_ref().map_or(Ok(()), |link| self.digesting.keep(link, path))
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

    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        Some(self)
    }
}

impl LinkedSession for MysqlSession {
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
