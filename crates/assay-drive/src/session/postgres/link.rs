//! One connection's requests and answers: what is encoded, what is parsed, and the stream between.

use std::io::Write;
use std::sync::Arc;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{
    ErrorFields, Message as Known, ParameterDescriptionBody, RowDescriptionBody,
};
use postgres_protocol::message::frontend;

use super::Described;
use super::startup::Connection;
use super::values::{Column, EPOCH_MICROS, Kind};
use crate::conductor::Conductor;
use crate::session::SessionError;
use crate::session::inbox::{Message, Tagged};
use crate::session::line::{Line, LineError};
use crate::session::linked::{Link as _, MessageLink};
use crate::session::value::Bound;

/// The first version that can be asked to hand in a process's statistics at once.
pub const VERSION_WITH_FLUSH: u32 = 15;
const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";

/// What the server answered, as far as a session cares.
pub enum Reply {
    /// A statement's parameters and columns are known now.
    Described(Described),
    /// One more row is held; this is where.
    Row(Message),
    /// The answer of a statement is whole: it returned or changed so many rows.
    Complete(u64),
    /// A request failed.
    Error(SessionError),
    /// The server awaits the next request; `I` idle, `T` in a transaction, `E` in a broken one.
    Ready(u8),
}

/// One connection at work.
pub struct Link {
    version: u32,
    parameters: Vec<u32>,
    /// Errors that may pass beside those that every server's may, by SQLSTATE.
    passing: Arc<[String]>,
    /// Whether what is executed now knows such errors.
    pub knows_passing: bool,
    /// Its line.
    pub line: Line<BytesMut, Tagged>,
}

impl MessageLink for Link {
    type Out = BytesMut;
    type Framing = Tagged;

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
                Ok(Some(Reply::Error(error))) => return Some(error),
                Ok(Some(_)) => {}
                Ok(None) => {
                    if !self.read().unwrap_or(false) {
                        return None;
                    }
                }
                Err(_) => return None,
            }
        }
    }
}

impl Link {
    /// A link over a connection that is ready for its first request.
    ///
    /// `passing` are errors, by SQLSTATE, that another attempt may cure on this server.
    pub fn new(connection: Connection, passing: Arc<[String]>) -> Self {
        let version = connection.parameters.get("server_version");
        let version = version.and_then(|text| text.split(|c: char| !c.is_ascii_digit()).next());
        let mut line = Line::new(connection.stream, BytesMut::with_capacity(4 << 10));
        line.inbox.feed(&connection.unread);
        Self {
            version: version.and_then(|number| number.parse().ok()).unwrap_or(0),
            line,
            parameters: Vec::new(),
            passing,
            knows_passing: false,
        }
    }

    /// The server's error with its SQLSTATE as class.
    fn server_error(&self, mut fields: ErrorFields<'_>) -> std::io::Result<SessionError> {
        let (mut class, mut message) = (String::from("XX000"), String::new());
        while let Some(field) = fields.next()? {
            let text = String::from_utf8_lossy(field.value_bytes());
            match field.type_() {
                b'C' => class = text.into_owned(),
                b'M' => message.insert_str(0, &text),
                b'D' => message = format!("{message}; {text}"),
                b'H' => message = format!("{message} (hint: {text})"),
                b'P' => message = format!("{message} at character {text}"),
                _ => {}
            }
        }
        let is_passing = self.knows_passing && self.passing.contains(&class);
        let retryable =
            is_passing || matches!(class.as_str(), SERIALIZATION_FAILURE | DEADLOCK_DETECTED);
        Ok(SessionError { class, message, retryable })
    }

    /// Major version of the server; 0 if it does not tell.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Asks what a statement's parameters and columns are. With a name it stays prepared.
    pub fn describe(&mut self, name: &str, text: &str) -> Result<(), SessionError> {
        frontend::parse(name, text, [], &mut self.line.out.bytes).map_err(SessionError::broken)?;
        frontend::describe(b'S', name, &mut self.line.out.bytes).map_err(SessionError::broken)?;
        frontend::sync(&mut self.line.out.bytes);
        Ok(())
    }

    /// Has an unnamed statement parsed and planned.
    pub fn parse(&mut self, text: &str) -> Result<(), SessionError> {
        frontend::parse("", text, [], &mut self.line.out.bytes).map_err(SessionError::broken)
    }

    /// Binds the values of a statement and has it executed.
    pub fn execute(
        &mut self,
        name: &str,
        described: &Described,
        conductor: &Conductor,
    ) -> Result<(), SessionError> {
        let values = conductor.values();
        if values.len() != described.parameters.len() {
            return Err(SessionError::unreadable(format!(
                "the statement has {} parameters, and {} values are drawn for it",
                described.parameters.len(),
                values.len()
            )));
        }
        frontend::bind(
            "",
            name,
            conductor
                .values()
                .zip(&described.parameters)
                .map(|(value, oid)| format_of(value, *oid)),
            (0..).zip(values.zip(&described.parameters)),
            |(place, (value, oid)), out| {
                write_value(value, *oid, out)
                    .map_err(|reason| format!("{}: {reason}", conductor.value_name(place)).into())
            },
            described.columns.iter().map(|column| column.kind.format()),
            &mut self.line.out.bytes,
        )
        .map_err(|error| match error {
            frontend::BindError::Conversion(error) => SessionError::unreadable(error.to_string()),
            frontend::BindError::Serialization(error) => SessionError::broken(error),
        })?;
        frontend::execute("", 0, &mut self.line.out.bytes).map_err(SessionError::broken)
    }

    /// Has the server answer all that it was sent, and be ready for more.
    pub fn sync(&mut self) {
        frontend::sync(&mut self.line.out.bytes);
    }

    /// Has text executed as it is.
    pub fn simple(&mut self, text: &str) -> Result<(), SessionError> {
        frontend::query(text, &mut self.line.out.bytes).map_err(SessionError::broken)
    }

    /// Executes text and waits for its end, on a stream that blocks. Rows are thrown away.
    pub fn ask(&mut self, text: &str) -> Result<(), SessionError> {
        self.line.inbox.clear();
        self.simple(text)?;
        self.flush()?;
        loop {
            match self.reply()? {
                Some(Reply::Ready(_)) => {
                    self.line.inbox.clear();
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    self.read()?;
                }
            }
        }
    }

    /// Executes a command and waits until it has taken effect, on a stream that blocks; an error of
    /// the server is ours, and the link is of no more use.
    pub fn command(&mut self, text: &str) -> Result<(), SessionError> {
        self.simple(text)?;
        self.flush()?;
        self.await_tag(b'Z')
    }

    /// Begins a copy into a table, on a stream that blocks.
    pub fn begin_copy(&mut self, text: &str) -> Result<(), SessionError> {
        self.simple(text)?;
        self.flush()?;
        self.await_tag(b'G')
    }

    /// Sends a part of a copy.
    pub fn send_copy(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        let header = [b"d", ((bytes.len() + 4) as i32).to_be_bytes().as_slice()].concat();
        self.line
            .stream
            .write_all(&header)
            .and_then(|()| self.line.stream.write_all(bytes))
            .map_err(SessionError::broken)
    }

    /// Ends a copy that must not take effect.
    pub fn fail_copy(&mut self, reason: &str) -> Result<(), SessionError> {
        frontend::copy_fail(reason, &mut self.line.out.bytes).map_err(SessionError::broken)?;
        self.flush()?;
        Ok(())
    }

    /// Ends a copy and waits until it has taken effect.
    pub fn end_copy(&mut self) -> Result<(), SessionError> {
        frontend::copy_done(&mut self.line.out.bytes);
        self.flush()?;
        self.await_tag(b'Z')
    }

    /// Waits for a message; an error of the server is ours.
    fn await_tag(&mut self, wanted: u8) -> Result<(), SessionError> {
        loop {
            while let Some(message) = self.line.inbox.take().map_err(SessionError::broken)? {
                if message.tag == wanted {
                    return Ok(());
                }
                if message.tag == b'E'
                    && let Some(Reply::Error(error)) = self.rare(message)?
                {
                    return Err(error);
                }
            }
            self.read()?;
        }
    }

    /// Hears what the server says in the middle of a copy; an error ends it.
    pub fn hear(&mut self) -> Result<(), SessionError> {
        self.read()?;
        while let Some(message) = self.line.inbox.take().map_err(SessionError::broken)? {
            if message.tag == b'E'
                && let Some(Reply::Error(error)) = self.rare(message)?
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// The next answer that a session cares about.
    pub fn reply(&mut self) -> Result<Option<Reply>, SessionError> {
        while let Some(message) = self.line.inbox.take().map_err(SessionError::broken)? {
            match message.tag {
                b'D' => return Ok(Some(Reply::Row(message))),
                b'C' => return Ok(Some(Reply::Complete(affected(self.line.inbox.body(message))))),
                b'I' => return Ok(Some(Reply::Complete(0))),
                b'Z' => {
                    let status = self.line.inbox.body(message).first().copied().unwrap_or(b'I');
                    return Ok(Some(Reply::Ready(status)));
                }
                b'E' | b't' | b'T' | b'n' => {
                    if let Some(reply) = self.rare(message)? {
                        return Ok(Some(reply));
                    }
                }
                b'H' => {
                    return Err(SessionError::unreadable("an operation cannot copy to the client"));
                }
                b'G' | b'W' => {
                    let reason = "this operation copies from the client, which sends nothing";
                    frontend::copy_fail(reason, &mut self.line.out.bytes)
                        .map_err(SessionError::broken)?;
                    frontend::sync(&mut self.line.out.bytes);
                    self.flush()?;
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Messages that come once a statement or with an error.
    fn rare(&mut self, message: Message) -> Result<Option<Reply>, SessionError> {
        let mut bytes = BytesMut::from(self.line.inbox.whole(message));
        match Known::parse(&mut bytes).map_err(SessionError::broken)? {
            Some(Known::ErrorResponse(body)) => Ok(Some(Reply::Error(
                self.server_error(body.fields()).map_err(SessionError::broken)?,
            ))),
            Some(Known::ParameterDescription(body)) => {
                self.parameters = parameters(&body).map_err(SessionError::broken)?;
                Ok(None)
            }
            Some(Known::RowDescription(body)) => {
                Ok(Some(self.described(columns(&body).map_err(SessionError::broken)?)))
            }
            Some(Known::NoData) => Ok(Some(self.described(Vec::new()))),
            _ => Ok(None),
        }
    }

    fn described(&mut self, columns: Vec<Column>) -> Reply {
        let parameters = std::mem::take(&mut self.parameters);
        Reply::Described(Described { parameters, columns: columns.into() })
    }

    /// The rows that are held, with the statement that returned them, counted from `first`.
    pub fn rows(&self, first: usize) -> impl Iterator<Item = (usize, &[u8])> {
        let mut statement = first;
        self.line.inbox.messages().filter_map(move |(tag, body)| match tag {
            b'D' => Some((statement, body)),
            b'C' | b'I' => {
                statement += 1;
                None
            }
            _ => None,
        })
    }
}

const INT2: u32 = 21;
const INT4: u32 = 23;
const INT8: u32 = 20;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;

/// Whole numbers and times are bound in binary where that is what they are here and there, all else
/// as text, which the server reads by its type.
const fn format_of(value: Bound<'_>, oid: u32) -> i16 {
    let is_text = matches!(value, Bound::Text(_));
    (!is_text && matches!(oid, INT2 | INT4 | INT8 | TIMESTAMP | TIMESTAMPTZ)) as i16
}

fn write_value(value: Bound<'_>, oid: u32, out: &mut BytesMut) -> Result<IsNull, String> {
    let number = match value {
        Bound::Null => return Ok(IsNull::Yes),
        Bound::Integer(number) => number,
        Bound::Text(text) => {
            out.extend_from_slice(text.as_bytes());
            return Ok(IsNull::No);
        }
        Bound::Decimal(coefficient, scale) => {
            return if format_of(value, oid) == 0 {
                write_decimal(coefficient, scale, out);
                Ok(IsNull::No)
            } else {
                Err(format!("a decimal is bound where the type {oid} is wanted"))
            };
        }
        Bound::Timestamp(micros) if matches!(oid, TIMESTAMP | TIMESTAMPTZ) => {
            out.extend_from_slice(&(micros - EPOCH_MICROS).to_be_bytes());
            return Ok(IsNull::No);
        }
        Bound::Timestamp(_) => return Err(format!("a time is bound where type {oid} is wanted")),
    };
    let fits = |kind: &str| format!("{number} does not fit {kind}");
    match oid {
        INT2 => {
            let short = i16::try_from(number).map_err(|_| fits("smallint"))?;
            out.extend_from_slice(&short.to_be_bytes());
        }
        INT4 => {
            let integer = i32::try_from(number).map_err(|_| fits("integer"))?;
            out.extend_from_slice(&integer.to_be_bytes());
        }
        INT8 => out.extend_from_slice(&number.to_be_bytes()),
        _ => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
    Ok(IsNull::No)
}

/// A decimal in digits: the server reads it by the parameter's type.
fn write_decimal(coefficient: i64, scale: u8, out: &mut BytesMut) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient.unsigned_abs()).as_bytes();
    if coefficient < 0 {
        out.extend_from_slice(b"-");
    }
    let scale = usize::from(scale);
    let (whole, behind) = digits.split_at(digits.len().saturating_sub(scale));
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    if scale > 0 {
        out.extend_from_slice(b".");
        out.extend(std::iter::repeat_n(b'0', scale - behind.len()));
        out.extend_from_slice(behind);
    }
}

/// The number at the end of a command's tag, such as `INSERT 0 5`; 0 if it has none.
fn affected(tag: &[u8]) -> u64 {
    let digits = tag.split(|byte| matches!(byte, b' ' | 0)).rfind(|word| !word.is_empty());
    digits
        .and_then(|word| std::str::from_utf8(word).ok())
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

fn parameters(body: &ParameterDescriptionBody) -> std::io::Result<Vec<u32>> {
    body.parameters().collect()
}

fn columns(body: &RowDescriptionBody) -> std::io::Result<Vec<Column>> {
    body.fields()
        .map(|field| Ok(Column { name: field.name().into(), kind: Kind::of(field.type_oid()) }))
        .collect()
}
