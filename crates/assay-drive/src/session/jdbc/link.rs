//! One connection to the bridge: what is encoded, what is parsed, and the socket between.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::values::{Body, kind};
use crate::session::SessionError;
use crate::session::attempt::Attempt;
use crate::session::inbox::{Message, Tagged};
use crate::session::interrupt::{ANSWER_PATIENCE, Means};
use crate::session::line::{Line, LineError};
use crate::session::linked::{MessageLink, closer};
use crate::session::stream::Stream;

/// Of the messages; the bridge refuses another.
const PROTOCOL: i32 = 1;
/// The bridge gives a driver ten seconds, and not every driver keeps to them.
const CONNECT_PATIENCE: Duration = Duration::from_secs(20);
const CONNECTION_LOST: &str = "08006";
const CANNOT_CONNECT: &str = "08001";
const GENERAL: &str = "HY000";
const LOST: u8 = 1;
const RETRYABLE: u8 = 2;
/// A statement that stays prepared.
const KEPT: u8 = 1;
const HIDDEN: &str = "***";
/// The number of a statement that is executed once.
const ONCE: i32 = 0;

/// How a database is reached.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct Config {
    /// The bridge's socket.
    pub socket: PathBuf,
    /// Of the database.
    pub url: String,
    /// Of the driver: user, password and the like.
    #[serde(default)]
    pub properties: Vec<(String, String)>,
    /// Statements that a new connection executes first.
    #[serde(default)]
    pub setup: Vec<String>,
    /// What must not stand in a message.
    #[serde(default)]
    pub hidden: Vec<String>,
}

/// What the bridge answered, as far as a session cares.
pub enum Reply {
    /// One more row is held.
    Row,
    /// A request failed; whether the database's connection is gone.
    Error(SessionError, bool),
    /// The bridge awaits the next request.
    Ready,
}

/// One connection at work.
pub struct Link {
    begun: usize,
    number: i32,
    hidden: Vec<String>,
    /// Its line.
    pub line: Line<Vec<u8>, Tagged>,
}

/// The error of a bridge that is gone.
pub fn gone(reason: impl std::fmt::Display) -> SessionError {
    let message =
        format!("the bridge process of the JDBC driver ended ({reason}): its log has the cause");
    SessionError { class: CONNECTION_LOST.into(), message, retryable: false }
}

/// The error of a database that takes no connection in time.
fn silent() -> SessionError {
    let seconds = CONNECT_PATIENCE.as_secs();
    let message = format!(
        "the database did not accept the connection within {seconds} s: check that it is running, \
         and that the DSN names its host and port"
    );
    SessionError { class: CANNOT_CONNECT.into(), message, retryable: false }
}

/// A line to what listens on a socket, however long its path is: an address holds 108 bytes.
fn connected(socket: &Path) -> std::io::Result<UnixStream> {
    let (Some(directory), Some(name)) = (socket.parent(), socket.file_name()) else {
        return UnixStream::connect(socket);
    };
    let directory = File::open(directory)?;
    let short = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string());
    UnixStream::connect(short.join(name))
}

impl MessageLink for Link {
    type Out = Vec<u8>;
    type Framing = Tagged;

    fn line(&self) -> &Line<Self::Out, Self::Framing> {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line<Self::Out, Self::Framing> {
        &mut self.line
    }

    fn failed(error: LineError) -> SessionError {
        match error {
            LineError::Closed => gone("it closed the line"),
            LineError::Lost => gone("it was lost"),
            LineError::Broken(error) => gone(error),
        }
    }
}

impl Link {
    /// Connects to the database, and defines the statements that the session will execute.
    pub fn open<'a>(
        config: &Config,
        statements: impl Iterator<Item = (i32, &'a str)>,
        prepared: bool,
        attempt: &Attempt,
    ) -> Result<Self, SessionError> {
        let stream = Stream::Unix(connected(&config.socket).map_err(gone)?);
        attempt.hold(&stream).map_err(gone)?;
        stream.set_timeout(Some(CONNECT_PATIENCE)).map_err(gone)?;
        let mut link = Self {
            line: Line::new(stream, Vec::with_capacity(4 << 10)),
            begun: 0,
            number: 0,
            hidden: config.hidden.clone(),
        };
        link.hello(config)?;
        for text in &config.setup {
            link.define(ONCE, text, false);
            link.begin_execute(1);
            link.asked(ONCE, 0);
            link.end();
            link.settled()?;
        }
        for (number, text) in statements {
            link.define(number, text, prepared);
        }
        link.line.stream.set_timeout(None).map_err(gone)?;
        Ok(link)
    }

    fn hello(&mut self, config: &Config) -> Result<(), SessionError> {
        self.begin(b'H');
        self.put_int(PROTOCOL);
        self.put_bytes(config.url.as_bytes());
        self.put_int(config.properties.len() as i32);
        for (name, value) in &config.properties {
            self.put_bytes(name.as_bytes());
            self.put_bytes(value.as_bytes());
        }
        self.end();
        self.settled()
    }

    /// Sends what was encoded and waits for its end, on a stream that blocks.
    fn settled(&mut self) -> Result<(), SessionError> {
        self.flush()?;
        let mut failed = None;
        loop {
            match self.reply()? {
                Some(Reply::Ready) => {
                    self.line.inbox.clear();
                    return failed.map_or(Ok(()), Err);
                }
                Some(Reply::Error(error, _)) => failed = failed.or(Some(error)),
                Some(Reply::Row) => {}
                None if self.read()? => {}
                None => return Err(silent()),
            }
        }
    }

    /// Asks the bridge, over a line of its own, to end what a connection executes.
    fn cancel(socket: &Path, number: i32) -> std::io::Result<()> {
        let mut stream = connected(socket)?;
        stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
        let request = [b"K".as_slice(), &8_i32.to_be_bytes(), &number.to_be_bytes()].concat();
        stream.write_all(&request)?;
        stream.read_exact(&mut [0])
    }

    /// How this connection is interrupted.
    pub fn means(&self, config: &Config) -> Option<Means> {
        let (socket, number) = (config.socket.clone(), self.number);
        let cut = Box::new(closer(&self.line.stream)?);
        Some(Means {
            ask: Box::new(move || {
                let _: std::io::Result<()> = Self::cancel(&socket, number);
            }),
            cut,
        })
    }

    /// Notes a statement under a number.
    fn define(&mut self, number: i32, text: &str, prepared: bool) {
        self.begin(b'S');
        self.put_int(number);
        self.line.out.bytes.push(if prepared { KEPT } else { 0 });
        self.put_bytes(text.as_bytes());
        self.end();
    }

    /// Begins a request to execute so many statements.
    pub fn begin_execute(&mut self, statements: usize) {
        self.begin(b'X');
        self.put_int(statements as i32);
    }

    /// The next statement of the request, with so many values that follow.
    pub fn asked(&mut self, number: i32, values: usize) {
        self.put_int(number);
        self.put_int(values as i32);
    }

    /// A value of a statement.
    pub fn whole(&mut self, value: i64) {
        self.line.out.bytes.push(kind::LONG);
        self.line.out.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// A value of a statement.
    pub fn text(&mut self, value: &str) {
        self.line.out.bytes.push(kind::TEXT);
        self.put_bytes(value.as_bytes());
    }

    /// Ends a request.
    pub fn end(&mut self) {
        let size = (self.line.out.bytes.len() - self.begun - 1) as i32;
        self.line.out.bytes[self.begun + 1..self.begun + 5].copy_from_slice(&size.to_be_bytes());
    }

    fn begin(&mut self, tag: u8) {
        self.begun = self.line.out.bytes.len();
        self.line.out.bytes.extend_from_slice(&[tag, 0, 0, 0, 0]);
    }

    fn put_int(&mut self, value: i32) {
        self.line.out.bytes.extend_from_slice(&value.to_be_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_int(bytes.len() as i32);
        self.line.out.bytes.extend_from_slice(bytes);
    }

    /// The next answer that a session cares about.
    pub fn reply(&mut self) -> Result<Option<Reply>, SessionError> {
        while let Some(message) = self
            .line
            .inbox
            .take()
            .map_err(|garbled| SessionError::unreadable(garbled.to_string()))?
        {
            match message.tag {
                b'D' => return Ok(Some(Reply::Row)),
                b'Z' => return Ok(Some(Reply::Ready)),
                b'E' => {
                    let (error, lost) = self.failure(message).map_err(SessionError::unreadable)?;
                    return Ok(Some(Reply::Error(error, lost)));
                }
                b'R' => {
                    let mut body = Body(self.line.inbox.body(message));
                    self.number = body.integer().map_err(SessionError::unreadable)?;
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn failure(&self, message: Message) -> Result<(SessionError, bool), String> {
        let mut body = Body(self.line.inbox.body(message));
        let state = body.text()?;
        let code = body.integer()?;
        let flags = body.byte()?;
        let mut text = body.text()?.into_owned();
        for secret in &self.hidden {
            text = text.replace(secret, HIDDEN);
        }
        if code != 0 {
            text = format!("{text} ({code})");
        }
        let lost = flags & LOST != 0;
        let class = match (&*state, lost) {
            ("", true) => CONNECTION_LOST,
            ("", false) => GENERAL,
            (state, _) => state,
        };
        let retryable = flags & RETRYABLE != 0;
        Ok((SessionError { class: class.into(), message: text, retryable }, lost))
    }
}
