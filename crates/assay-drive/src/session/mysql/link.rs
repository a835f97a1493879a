//! One connection's requests and answers: what is encoded, what is parsed, and the stream between.

mod replies;

use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::time::Instant;

use mysql_common::constants::CapabilityFlags;

use super::config::Config;
use super::packets::{self, Packets};
use super::startup::{Connection, ServerError, connect};
use super::statements::Prepared;
use crate::conductor::Conductor;
use crate::session::SessionError;
use crate::session::attempt::Attempt;
use crate::session::connecting::ConnectError;
use crate::session::inbox::Message;
use crate::session::line::{Line, LineError};
use crate::session::linked::{Link as _, MessageLink};

const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;
const IN_TRANSACTION: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;
const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
/// A deadlock; a lock that was waited for in vain; a row, or a table, that is another one than the
/// transaction saw before; a statement that must be prepared again: the server advises to try again.
const RETRYABLE: [u16; 5] = [1213, 1205, 1020, 1412, NEEDS_REPREPARE];
/// SQLSTATE of transactions that failed because of others.
const ROLLED_BACK: &str = "40001";
/// A statement that the protocol of prepared statements has not.
pub const NOT_PREPARED: u16 = 1295;
/// A statement that the server prepared, and cannot execute any more.
pub const NEEDS_REPREPARE: u16 = 1615;
/// The server says so, and closes the line: it shuts down, a packet was too large or out of order,
/// the connection was killed or was idle for too long.
const LAST_WORDS: [u16; 11] = [1053, 1077, 1079, 1152, 1153, 1156, 1158, 1159, 1161, 1927, 4031];
const TOO_LARGE: u16 = 1153;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To prepare a statement, by its index in the operation.
    Prepare(usize),
    /// To execute one that was prepared.
    Execute(usize),
    /// To execute text, of the statement of this index.
    Text(usize),
    /// Anything of ours: nobody reads its rows.
    Command,
}

impl Request {
    /// Whether rows come in binary.
    pub const fn is_binary(self) -> bool {
        matches!(self, Self::Execute(_))
    }
}

/// What the server answered, as far as a session cares. The first two end an answer.
#[derive(Debug)]
pub enum Reply {
    /// The request succeeded.
    Done,
    /// It failed.
    Error(ServerError),
    /// A statement was prepared: its number, and how many values it takes. It ends the answer, too.
    Prepared(u32, u16),
    /// A result with rows begins; whether its columns were told.
    Columns(bool),
    /// One more row came that is to be told of; this is where.
    Row(Message),
    /// The server awaits the bytes of a file.
    SendFile,
}

/// Where in an answer the next packet stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    /// So many packets of definitions are to come; what ends them is one, too, where that is done.
    Parameters {
        left: u32,
        columns: u16,
    },
    PreparedColumns {
        left: u32,
    },
    Columns {
        left: u32,
    },
    Rows,
}

/// One connection at work.
pub struct Link {
    id: u32,
    deprecates_eof: bool,
    caches_metadata: bool,
    status: u16,
    /// What was asked, with the number of the answer's first packet.
    asked: VecDeque<(Request, u8)>,
    stage: Stage,
    prepared: (u32, u16),
    affected: u64,
    warnings: u16,
    /// Rows that end before this place of the inbox stay there, and nobody is told of each.
    pub hands_out_after: usize,
    /// Where in the inbox the last row ends.
    pub rows_end: usize,
    /// Definitions of the columns of the result that is read.
    pub definitions: Definitions,
    /// Its line.
    pub line: Line<Vec<u8>, Packets>,
}

/// Definitions of columns, as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Definitions {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, definition: &[u8]) {
        self.bytes.extend_from_slice(definition);
        self.ends.push(self.bytes.len());
    }

    /// One after another.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().map(move |end| &self.bytes[std::mem::replace(&mut begin, *end)..*end])
    }
}

/// The server's error with its SQLSTATE as class, and whether it closes the line.
pub fn failed(error: ServerError) -> (SessionError, bool) {
    let retryable = RETRYABLE.contains(&error.number) || error.state == ROLLED_BACK;
    let mut message = error.message;
    if error.number == TOO_LARGE {
        message.push_str("; raise the server's max_allowed_packet");
    }
    let closes = LAST_WORDS.contains(&error.number);
    (SessionError { class: error.state, message, retryable }, closes)
}

impl MessageLink for Link {
    type Out = Vec<u8>;
    type Framing = Packets;

    fn line(&self) -> &Line<Self::Out, Self::Framing> {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line<Self::Out, Self::Framing> {
        &mut self.line
    }

    fn failed(error: LineError) -> SessionError {
        SessionError::broken(error)
    }

    fn last_words(&mut self) -> Option<SessionError> {
        self.set_nonblocking(true).ok()?;
        loop {
            match self.reply() {
                Ok(Some(Reply::Error(error))) => return Some(failed(error).0),
                Ok(Some(_)) => {}
                Ok(None) if self.read().unwrap_or(false) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Link {
    /// Connects to the first server that takes the connection. A refusal by a server, such as of
    /// a password, ends the attempt.
    pub fn open_first(config: &Config, attempt: &Attempt) -> Result<(Config, Self), ConnectError> {
        let mut errors = Vec::new();
        for server in config.of_each_server() {
            match Self::open(&server, CapabilityFlags::empty(), attempt) {
                Ok(link) => return Ok((server, link)),
                Err(error) if error.leads_on() => errors.push(error),
                Err(error) => return Err(error),
            }
        }
        Err(ConnectError::of_all(config.others.len() + 1, errors))
    }

    /// Connects and has the connection commit each statement by itself, unless it is told
    /// otherwise, and executes what the configuration wants to be executed first. The deadline of
    /// the login is that of these statements, too.
    pub fn open(
        config: &Config,
        more: CapabilityFlags,
        attempt: &Attempt,
    ) -> Result<Self, ConnectError> {
        let connection = connect(config, more, attempt)?;
        let (place, deadline) = (config.place(), connection.deadline);
        let unreached = |error| ConnectError::unreached(&place, config.timeout(), &error);
        let mut link = Self::new(connection);
        let by_itself = (link.status & AUTOCOMMIT == 0).then_some("set autocommit = 1");
        for text in by_itself.into_iter().chain(config.init.iter().map(String::as_str)) {
            match link.command(text) {
                Ok(None) => {}
                Ok(Some(refused)) => return Err(refused.refusal(&place)),
                Err(_) if Instant::now() >= deadline => {
                    return Err(unreached(ErrorKind::TimedOut.into()));
                }
                Err(error) => {
                    let reason = error.message;
                    return Err(ConnectError::Refused { place: place.to_string(), reason });
                }
            }
        }
        link.line.deadline = None;
        link.line.stream.set_timeout(None).map_err(unreached)?;
        Ok(link)
    }

    fn new(connection: Connection) -> Self {
        let line = Line::new(connection.stream, Vec::with_capacity(4 << 10));
        Self {
            line: Line { deadline: Some(connection.deadline), ..line },
            id: connection.id,
            deprecates_eof: connection.deprecates_eof,
            caches_metadata: connection.caches_metadata,
            status: connection.status,
            asked: VecDeque::with_capacity(16),
            stage: Stage::Head,
            prepared: (0, 0),
            affected: 0,
            warnings: 0,
            hands_out_after: 0,
            rows_end: 0,
            definitions: Definitions::default(),
        }
    }

    /// The number by which the server can be told to kill it.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Whether the transaction that the last answer told of is open, or may be.
    pub const fn in_transaction(&self) -> bool {
        self.status & IN_TRANSACTION != 0
    }

    /// Whether a statement that failed may have left a transaction open.
    pub const fn may_be_in_transaction(&self) -> bool {
        self.in_transaction() || self.status & AUTOCOMMIT == 0
    }

    /// Whether a backslash in a quoted text is a letter like others.
    pub const fn has_plain_backslashes(&self) -> bool {
        self.status & NO_BACKSLASH_ESCAPES != 0
    }

    fn ask(&mut self, request: Request, command: u8, text: &str) {
        let place = packets::begin(&mut self.line.out.bytes);
        self.line.out.bytes.push(command);
        self.line.out.bytes.extend_from_slice(text.as_bytes());
        self.await_answer(request, place);
    }

    /// Ends the request that was begun at `place`.
    fn await_answer(&mut self, request: Request, place: usize) {
        let number = packets::end(&mut self.line.out.bytes, place, 0);
        if self.asked.is_empty() {
            self.line.inbox.framing.expect(number);
        }
        self.asked.push_back((request, number));
    }

    /// Has a statement prepared.
    pub fn prepare(&mut self, statement: usize, text: &str) {
        self.ask(Request::Prepare(statement), COM_STMT_PREPARE, text);
    }

    /// Has text executed as it is.
    pub fn query(&mut self, request: Request, text: &str) {
        self.ask(request, COM_QUERY, text);
    }

    /// Has a prepared statement executed with the conductor's values.
    pub fn execute(
        &mut self,
        statement: usize,
        prepared: &mut Prepared,
        conductor: &Conductor,
    ) -> Result<(), SessionError> {
        let unsent = self.line.out.bytes.len();
        let place = packets::begin(&mut self.line.out.bytes);
        self.line.out.bytes.push(COM_STMT_EXECUTE);
        self.line.out.bytes.extend_from_slice(&prepared.id.to_le_bytes());
        // No cursor, one execution.
        self.line.out.bytes.extend_from_slice(&[0, 1, 0, 0, 0]);
        if let Err(reason) = prepared.bind(conductor, &mut self.line.out.bytes) {
            self.line.out.bytes.truncate(unsent);
            return Err(SessionError::unreadable(reason));
        }
        self.await_answer(Request::Execute(statement), place);
        Ok(())
    }

    /// Has a prepared statement executed, with all of the request behind its first byte.
    pub fn execute_bytes(&mut self, request: &[u8]) {
        let place = packets::begin(&mut self.line.out.bytes);
        self.line.out.bytes.push(COM_STMT_EXECUTE);
        self.line.out.bytes.extend_from_slice(request);
        self.await_answer(Request::Command, place);
    }

    /// Has the server forget a statement. It does not answer.
    pub fn close(&mut self, id: u32) {
        let place = packets::begin(&mut self.line.out.bytes);
        self.line.out.bytes.push(COM_STMT_CLOSE);
        self.line.out.bytes.extend_from_slice(&id.to_le_bytes());
        packets::end(&mut self.line.out.bytes, place, 0);
    }

    /// Executes text and waits for its end, on a stream that blocks; the server's error, if it has
    /// one. Rows are handed to nobody.
    pub fn command(&mut self, text: &str) -> Result<Option<ServerError>, SessionError> {
        self.rows_of(text, |_| Ok(()))
    }

    /// The same, and hands each row to `each`. What it returned or changed is not counted.
    pub fn rows_of(
        &mut self,
        text: &str,
        mut each: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Option<ServerError>, SessionError> {
        self.line.inbox.clear();
        self.query(Request::Command, text);
        self.flush()?;
        loop {
            match self.reply()? {
                Some(Reply::Done) => {
                    self.affected = 0;
                    return Ok(None);
                }
                Some(Reply::Error(error)) => return Ok(Some(error)),
                Some(Reply::Row(row)) => {
                    each(self.line.inbox.body(row)).map_err(SessionError::unreadable)?;
                }
                Some(Reply::SendFile) => {
                    return Err(SessionError::unreadable("a file is asked for"));
                }
                Some(_) => {}
                None => {
                    self.read()?;
                }
            }
        }
    }

    /// Sends bytes that are packets already, on a stream that blocks.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.line.stream.write_all(bytes).map_err(SessionError::broken)
    }

    /// Rows that were returned or changed since this was asked last.
    pub const fn take_affected(&mut self) -> u64 {
        std::mem::replace(&mut self.affected, 0)
    }

    /// Warnings of the last answer.
    pub const fn warnings(&self) -> u16 {
        self.warnings
    }

    /// The request whose answer is read.
    pub fn answering(&self) -> Option<Request> {
        self.asked.front().map(|(request, _)| *request)
    }

    /// How many requests are not answered.
    pub fn unanswered(&self) -> usize {
        self.asked.len()
    }

    /// The next answer that a session cares about. After one that ends an answer, `answering` is
    /// the request behind it.
    pub fn reply(&mut self) -> Result<Option<Reply>, SessionError> {
        while let Some(message) = self.line.inbox.take().map_err(SessionError::broken)? {
            if let Some(reply) = self.packet(message).map_err(SessionError::unreadable)? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }
}
