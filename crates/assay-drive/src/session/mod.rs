//! One connection of the driver. One file a protocol; `null` answers at once.

pub mod attempt;
pub mod connecting;
pub mod inbox;
pub mod interrupt;
pub mod jdbc;
pub mod line;
pub mod linked;
pub mod loading;
pub mod mysql;
mod need;
pub mod null;
pub mod postgres;
pub mod rows;
pub mod sparql;
pub mod sqlite;
pub mod stream;
pub mod tls;
pub mod value;

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use assay_model::event::Receipt;

use self::connecting::ConnectError;
use crate::conductor::{Conductor, StatementTime};
use crate::digest::RowDigest;

/// SQLSTATE of a connection that is gone.
const CONNECTION_LOST: &str = "08006";
/// SQLSTATE of a connection that is not there.
const CANNOT_CONNECT: &str = "08001";
/// Rows of one operation that are held at once. What goes beyond is digested while it comes, and
/// such a result is not kept as rows.
const HELD_BYTES_MAX: usize = 64 << 20;
/// An operation that finds no server waits this long before it fails, so that a dead server is not
/// asked a million times a second.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// Rows of the last operation, counted and digested after the clock was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Rows.
    pub rows: u64,
    /// Order-insensitive digest, see [`crate::digest`]; `None`: a program read the rows, and there
    /// is nothing to be kept of them.
    pub digest: Option<u64>,
    /// Digest in the order in which rows came.
    pub ordered_digest: u64,
}

impl Fetched {
    /// The rows that a program read; `None`: it reads none of them.
    pub fn read_by(conductor: &Conductor) -> Option<Self> {
        conductor.reads_rows().then(|| Self { rows: conductor.rows(), ..Self::default() })
    }

    /// What was digested.
    pub fn of(digest: &RowDigest) -> Self {
        Self {
            rows: digest.rows(),
            digest: Some(digest.finish()),
            ordered_digest: digest.finish_ordered(),
        }
    }
}

/// Why an operation failed, in the engine's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct SessionError {
    /// Class that errors are counted by: an SQLSTATE, or the engine's name of the error.
    pub class: String,
    /// What the engine said.
    pub message: String,
    /// Whether the same operation may succeed when it is sent again.
    pub retryable: bool,
}

impl SessionError {
    /// The error of a connection that is gone.
    pub fn broken(message: impl std::fmt::Display) -> Self {
        Self { class: CONNECTION_LOST.into(), message: message.to_string(), retryable: false }
    }

    /// The error of a session whose operation was interrupted while it connected.
    pub fn given_up() -> Self {
        let message = "the attempt to connect was given up: the operation reached its time limit, \
                       or the run ended";
        Self { class: CANNOT_CONNECT.into(), message: message.into(), retryable: false }
    }

    /// The error of an answer that makes no sense.
    pub fn unreadable(message: impl Into<String>) -> Self {
        Self { class: "result".into(), message: message.into(), retryable: false }
    }

    /// What an operation did that left its transaction open.
    pub fn open_transaction() -> Self {
        Self {
            class: "open_transaction".into(),
            message: "the operation left its transaction open: end it with commit".into(),
            retryable: false,
        }
    }
}

impl From<ConnectError> for SessionError {
    fn from(error: ConnectError) -> Self {
        Self { class: error.class().into(), message: error.to_string(), retryable: false }
    }
}

/// Ends what a session is executing, from another thread. It is called again and again, some
/// twenty times a second, until the operation has ended.
pub type Canceller = Box<dyn Fn() + Send + Sync>;

/// What serves a connection, in the engine's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A process of the engine, by its number.
    Process(u32),
    /// A thread of the engine's process, which the engine knows by the connection's number.
    Connection(u32),
}

/// One connection: executes operations by their number in the plan.
pub trait Session: Send {
    /// Sends the operation and fetches every row. This is what is timed.
    fn execute(&mut self, operation: u16) -> Result<(), SessionError>;

    /// Counts and digests the rows of the last `execute`. Not timed.
    fn fetched(&mut self) -> Result<Fetched, SessionError>;

    /// Writes the rows of the last `execute` as an Arrow file, or no file if they are not held any
    /// more. Not timed.
    fn keep(&mut self, path: &Path) -> Result<(), SessionError>;

    /// The conductor, which names the statements to send and notes when they were answered.
    fn conductor(&self) -> Option<&Conductor> {
        None
    }

    /// As `conductor`, to be changed.
    fn conductor_mut(&mut self) -> Option<&mut Conductor> {
        None
    }

    /// Says which row of values the next `execute` has; `None`: it draws one.
    fn choose(&mut self, row: Option<u32>) {
        if let Some(conductor) = self.conductor_mut() {
            conductor.choose(row);
        }
    }

    /// When the statements of the last `execute` were answered, where there were several.
    fn statements(&self) -> &[StatementTime] {
        self.conductor().map_or(&[], Conductor::times)
    }

    /// What the program of the last `execute` noted; `None`: it had none.
    fn marks(&self) -> Option<u32> {
        self.conductor().and_then(Conductor::marks)
    }

    /// What of the last `execute` is to be found in the database; `None`: nothing that is known.
    fn receipt(&self) -> Option<Receipt> {
        self.conductor().and_then(Conductor::receipt)
    }

    /// Lets go of the rows of the last `execute`, so that freeing them is not timed either.
    fn release(&mut self) {
        if let Some(conductor) = self.conductor_mut() {
            conductor.release();
        }
    }

    /// What ends a running `execute`, if the protocol knows such a thing.
    fn canceller(&self) -> Option<Canceller> {
        None
    }

    /// What serves a new connection, told once after each connect.
    fn take_backend(&mut self) -> Option<Backend> {
        None
    }

    /// The address of the server that a new connection leads to, told once after each connect;
    /// `None`: the engine has one server.
    fn take_server(&mut self) -> Option<String> {
        None
    }

    /// Makes the engine's own counters of the last operation visible to other connections. Not
    /// timed; called in serial runs only.
    fn settle(&mut self) {}

    /// The same connection as one of several that a thread owns; `None`: `execute` must block.
    fn shared(&mut self) -> Option<&mut dyn SharedSession> {
        None
    }
}

/// What a session that shares its thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The operation has ended.
    Ended,
    /// There is more to come.
    Reads,
    /// There is more to be sent, and the system takes no more now.
    Writes,
    /// The operation goes on over a new connection: `reconnect` makes it, and may wait for it.
    Connects,
}

/// A session whose thread owns several: it never waits, but where it has to connect anew. Its crew
/// has another thread begin an operation for which there is no connection, and another thread
/// reconnect a session in the middle of an operation.
pub trait SharedSession {
    /// From now on reads and writes do not block.
    fn share(&mut self) -> Result<(), SessionError>;

    /// What is to be watched, and which connection it belongs to: the number changes when the
    /// session connects anew. `None` while there is no connection.
    fn connection(&self) -> Option<(BorrowedFd<'_>, u32)>;

    /// Begins an operation.
    fn begin(&mut self, operation: u16) -> Result<Step, SessionError>;

    /// Goes on, after the connection became ready.
    fn advance(&mut self) -> Result<Step, SessionError>;

    /// Makes the connection that the operation goes on over, after a step was `Connects`. Only this
    /// and `begin` without a connection may wait.
    fn reconnect(&mut self) -> Result<Step, SessionError> {
        Err(SessionError::broken("this session makes no new connection during an operation"))
    }
}

/// Carries out an operation of a session that could share its thread, and does not.
pub fn execute_waiting(
    session: &mut impl SharedSession,
    operation: u16,
) -> Result<(), SessionError> {
    let begun = session.begin(operation);
    if begun.is_err() && session.connection().is_none() {
        thread::sleep(REFUSED_PAUSE);
    }
    let mut step = begun?;
    while step != Step::Ended {
        step = match step {
            Step::Connects => session.reconnect()?,
            _ => session.advance()?,
        };
    }
    Ok(())
}
