//! From a description of a server to a connection that awaits its first request.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use assay_kernel::user::name_of_user;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::choosing::Endpoint;
use super::config::{Config, Server};
use super::role::Role;
use crate::session::attempt::Attempt;
use crate::session::connecting::{Address, ConnectError, SslMode, dial_address, dial_socket};
use crate::session::stream::Stream;
use crate::session::tls;

const READ_BYTES: usize = 4 << 10;
/// No message before the first request is nearly as long.
const MESSAGE_BYTES_MAX: u32 = 1 << 20;
/// Messages such as parameters may be many, but no server sends nearly as much of them.
const STARTUP_BYTES_MAX: usize = 4 << 20;

/// A connection that awaits its first request.
#[derive(Debug)]
pub struct Connection {
    /// The line.
    pub stream: Stream,
    /// Where it leads.
    pub endpoint: Endpoint,
    /// The server's process behind it.
    pub backend_pid: i32,
    /// Proves that a request to cancel comes from us.
    pub secret_key: i32,
    /// What the server tells of itself, such as `server_version`.
    pub parameters: BTreeMap<String, String>,
    /// Bytes that came with the end of the start.
    pub unread: BytesMut,
}

/// Whether a line is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It is not.
    Clear,
    /// By TLS.
    Tls,
}

impl Method {
    /// How a line is encrypted.
    pub const fn of(stream: &Stream) -> Self {
        match stream {
            Stream::Tls(_) => Self::Tls,
            Stream::Tcp(_) | Stream::Unix(_) => Self::Clear,
        }
    }
}

/// The methods that are tried, one after another, as libpq tries them.
const fn methods(config: &Config, address: &Address) -> &'static [Method] {
    match (address, config.ssl) {
        (Address::Unix(_), _) | (_, SslMode::Disable) => &[Method::Clear],
        (_, SslMode::Allow) => &[Method::Clear, Method::Tls],
        (_, SslMode::Prefer) => &[Method::Tls, Method::Clear],
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => &[Method::Tls],
    }
}

/// Connects to one address of a server, which has to be in the state that `role` asks for.
pub fn start(
    config: &Config,
    endpoint: &Endpoint,
    role: Role,
    attempt: &Attempt,
) -> Result<Connection, ConnectError> {
    let mut failed: Option<ConnectError> = None;
    for method in methods(config, &endpoint.address) {
        let error = match begin(config, endpoint, *method, role, attempt) {
            Err(error) => error,
            connection => return connection,
        };
        let is_final = matches!(
            error,
            ConnectError::Refused { .. }
                | ConnectError::Timeout { .. }
                | ConnectError::Proof { .. }
                | ConnectError::Unsuited { .. }
                | ConnectError::Certificate { .. }
        );
        // Of two errors, the one of the encrypted line says more.
        if failed.is_none() || *method == Method::Tls {
            failed = Some(error);
        }
        if is_final {
            break;
        }
    }
    Err(failed.unwrap_or_else(|| ConnectError::Refused {
        place: endpoint.to_string(),
        reason: "no way to connect is left".into(),
    }))
}

/// Opens a line to a server, encrypted or not, until `deadline`.
pub fn open(
    config: &Config,
    endpoint: &Endpoint,
    method: Method,
    deadline: Instant,
    attempt: &Attempt,
) -> Result<Stream, ConnectError> {
    let failed = |error| ConnectError::unreached(endpoint, config.timeout, &error);
    match &endpoint.address {
        Address::Unix(path) => {
            let stream = dial_socket(path, deadline, attempt).map_err(failed)?;
            check_peer(config, endpoint, &stream)?;
            Ok(stream)
        }
        Address::Tcp(address) => {
            let line = dial_address(address, deadline, attempt).map_err(failed)?;
            match method {
                Method::Clear => Ok(Stream::Tcp(line)),
                Method::Tls => secured(config, endpoint, line, deadline),
            }
        }
    }
}

/// Refuses a socket behind which there is another user's process than `requirepeer` names.
fn check_peer(config: &Config, endpoint: &Endpoint, stream: &Stream) -> Result<(), ConnectError> {
    let Some(wanted) = &config.peer else { return Ok(()) };
    let peer = rustix::net::sockopt::socket_peercred(stream);
    let peer = peer.map_err(|error| broken(config, endpoint, &error.into()))?;
    let name = name_of_user(peer.uid.as_raw());
    if name.as_ref() == Some(wanted) {
        return Ok(());
    }
    let name = name.unwrap_or_else(|| peer.uid.as_raw().to_string());
    Err(ConnectError::Proof {
        place: endpoint.to_string(),
        what: format!("trust as the user {name}, and requirepeer names {wanted}"),
    })
}

fn secured(
    config: &Config,
    endpoint: &Endpoint,
    mut line: TcpStream,
    deadline: Instant,
) -> Result<Stream, ConnectError> {
    let failed = |error| broken(config, endpoint, &error);
    let tls = |reason: String| {
        if Instant::now() >= deadline {
            return broken(config, endpoint, &ErrorKind::TimedOut.into());
        }
        ConnectError::Tls { place: endpoint.to_string(), reason }
    };
    check_files(config, &endpoint.server).map_err(tls)?;
    if config.tls.protocol.is_none() {
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        line.write_all(&request).map_err(failed)?;
        let mut answer = [0];
        line.read_exact(&mut answer).map_err(failed)?;
        match (answer[0], config.ssl) {
            (b'S', _) => {}
            (b'N', SslMode::Prefer) => return Ok(Stream::Tcp(line)),
            (b'N', _) => {
                return Err(tls("the server has none; sslmode=prefer goes without".into()));
            }
            (b'E', _) => return Err(tls("the server refuses to answer whether it has it".into())),
            (other, _) => {
                let reason = format!("{other:#04x} in answer to a request for TLS");
                return Err(garbled(endpoint, reason));
            }
        }
    }
    let name = endpoint.name();
    let encrypted = tls::encrypt(&config.tls, &name, line, deadline).map_err(|error| {
        if error.is_unsupported {
            let (place, reason) = (endpoint.to_string(), error.reason);
            return ConnectError::Certificate { place, reason };
        }
        tls(error.reason)
    })?;
    Ok(Stream::Tls(Box::new(encrypted)))
}

/// Refuses missing names and files before TLS begins, as libpq does.
fn check_files(config: &Config, server: &Server) -> Result<(), String> {
    if config.tls.checks_name && server.name.is_none() {
        return Err("sslmode=verify-full needs the host's name beside hostaddr: write host".into());
    }
    if let tls::Trust::File(path) = &config.tls.trust
        && !path.exists()
    {
        return Err(format!(
            "{}: there is no root certificate; name one with sslrootcert, or the host's with \
             sslrootcert=system",
            path.display()
        ));
    }
    config.tls.identity.as_ref().map_or(Ok(()), |identity| check_key(&identity.key))
}

/// Refuses a private key that others may read.
fn check_key(key: &Path) -> Result<(), String> {
    let file = std::fs::metadata(key)
        .map_err(|error| format!("{}: the certificate's private key: {error}", key.display()))?;
    let forbidden = if file.uid() == 0 { 0o037 } else { 0o077 };
    if file.mode() & forbidden == 0 {
        return Ok(());
    }
    Err(format!("{}: others may read the private key: chmod 600 it", key.display()))
}

/// The error of a line that was there and broke, or of a server that took too long.
pub(super) fn broken(config: &Config, endpoint: &Endpoint, error: &io::Error) -> ConnectError {
    match ConnectError::unreached(endpoint, config.timeout, error) {
        ConnectError::Refused { place, reason } => ConnectError::Lost { place, reason },
        error => error,
    }
}

fn garbled(endpoint: &Endpoint, reason: String) -> ConnectError {
    ConnectError::Protocol { place: endpoint.to_string(), product: "PostgreSQL", reason }
}

fn begin(
    config: &Config,
    endpoint: &Endpoint,
    method: Method,
    role: Role,
    attempt: &Attempt,
) -> Result<Connection, ConnectError> {
    let deadline = Instant::now() + config.timeout;
    let stream = open(config, endpoint, method, deadline, attempt)?;
    let (out, unread, received) = (BytesMut::new(), BytesMut::new(), 0);
    let mut talk = Talk { stream, endpoint, config, deadline, out, unread, received };
    let mut parameters = vec![
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("application_name", config.application.as_str()),
        ("client_encoding", "UTF8"),
    ];
    parameters.extend(config.options.as_deref().map(|options| ("options", options)));
    frontend::startup_message(parameters, &mut talk.out).map_err(|error| talk.garbled(&error))?;
    talk.send()?;
    talk.prove()?;
    let (backend_pid, secret_key, parameters) = talk.settle()?;
    let answer = role.question(&parameters).map(|question| talk.ask(question)).transpose()?;
    if let Some(reason) = role.refusal(&parameters, answer) {
        return Err(talk.unsuited(reason));
    }
    talk.stream.set_timeout(None).map_err(|error| talk.broken(&error))?;
    let (stream, unread, endpoint) = (talk.stream, talk.unread, endpoint.clone());
    Ok(Connection { stream, endpoint, backend_pid, secret_key, parameters, unread })
}

/// The process id of the server's session, the key for requests to cancel, and the parameters that
/// the server reports before it accepts a request.
type Greeting = (i32, i32, BTreeMap<String, String>);

/// The conversation before the first request.
pub(super) struct Talk<'a> {
    pub(super) stream: Stream,
    pub(super) endpoint: &'a Endpoint,
    pub(super) config: &'a Config,
    deadline: Instant,
    pub(super) out: BytesMut,
    unread: BytesMut,
    /// Bytes that the server has sent so far.
    received: usize,
}

impl Talk<'_> {
    pub(super) fn send(&mut self) -> Result<(), ConnectError> {
        let sent = self.stream.write_all(&self.out).and_then(|()| self.stream.flush());
        self.out.clear();
        sent.map_err(|error| self.broken(&error))
    }

    pub(super) fn next(&mut self) -> Result<Message, ConnectError> {
        loop {
            self.check_length()?;
            let parsed = Message::parse(&mut self.unread);
            if let Some(message) = parsed.map_err(|error| self.garbled(&error))? {
                match message {
                    Message::ErrorResponse(body) => return Err(self.refused(&body)),
                    Message::NoticeResponse(_) => {}
                    message => return Ok(message),
                }
                continue;
            }
            let mut bytes = [0; READ_BYTES];
            self.shorten_patience()?;
            match self.stream.read(&mut bytes) {
                Ok(0) => {
                    let gone = io::Error::new(ErrorKind::UnexpectedEof, "it closed the line");
                    return Err(self.broken(&gone));
                }
                Ok(count) => {
                    self.unread.extend_from_slice(&bytes[..count]);
                    self.received += count;
                }
                Err(error) => return Err(self.broken(&error)),
            }
            if self.received > STARTUP_BYTES_MAX {
                let reason = format!("{} bytes before the first request", self.received);
                return Err(self.garbled(&io::Error::other(reason)));
            }
        }
    }

    /// The next read waits no longer than until the deadline of the address.
    fn shorten_patience(&self) -> Result<(), ConnectError> {
        self.stream.limit(self.deadline).map_err(|error| self.broken(&error))
    }

    /// What answers may be no such server: memory for a message of any length is not taken.
    fn check_length(&self) -> Result<(), ConnectError> {
        let Some(header) = self.unread.get(1..5) else { return Ok(()) };
        let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        if length > MESSAGE_BYTES_MAX {
            let reason = format!("a message of {length} bytes before the first request");
            return Err(self.garbled(&io::Error::other(reason)));
        }
        Ok(())
    }

    /// Hears what the server tells of itself, until it awaits a request.
    fn settle(&mut self) -> Result<Greeting, ConnectError> {
        let (mut backend_pid, mut secret_key) = (0, 0);
        let mut parameters = BTreeMap::new();
        loop {
            match self.next()? {
                Message::BackendKeyData(body) => {
                    (backend_pid, secret_key) = (body.process_id(), body.secret_key());
                }
                Message::ParameterStatus(body) => {
                    if let (Ok(name), Ok(value)) = (body.name(), body.value()) {
                        parameters.insert(name.to_owned(), value.to_owned());
                    }
                }
                Message::ReadyForQuery(_) => return Ok((backend_pid, secret_key, parameters)),
                _ => {}
            }
        }
    }

    /// The boolean that a query returns. A server that does not answer it is not one to stay with.
    fn ask(&mut self, question: &str) -> Result<bool, ConnectError> {
        frontend::query(question, &mut self.out).map_err(|error| self.garbled(&error))?;
        self.send()?;
        let mut value = None;
        loop {
            let message = self.next().map_err(|error| match error {
                ConnectError::Server { message, .. } => self.unsuited(&message),
                error => error,
            })?;
            match message {
                Message::DataRow(row) => {
                    let first = row.ranges().next().map_err(|error| self.garbled(&error))?;
                    value = first.flatten().and_then(|range| read_boolean(&row.buffer()[range]));
                }
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        value.ok_or_else(|| self.unsuited(&format!("it gives no answer to {question}")))
    }

    fn unsuited(&self, reason: &str) -> ConnectError {
        ConnectError::Unsuited { place: self.endpoint.to_string(), reason: reason.into() }
    }

    fn broken(&self, error: &io::Error) -> ConnectError {
        broken(self.config, self.endpoint, error)
    }

    pub(super) fn proof(&self, what: &str) -> ConnectError {
        ConnectError::Proof { place: self.endpoint.to_string(), what: what.into() }
    }

    pub(super) fn garbled(&self, error: &io::Error) -> ConnectError {
        garbled(self.endpoint, error.to_string())
    }

    fn refused(&self, body: &ErrorResponseBody) -> ConnectError {
        let (mut code, mut message) = (String::new(), String::new());
        let mut fields = body.fields();
        while let Ok(Some(field)) = fields.next() {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => code = text,
                b'M' => message = text,
                _ => {}
            }
        }
        let mend = mend(&code);
        ConnectError::Server { place: self.endpoint.to_string(), code, message, mend }
    }
}

fn read_boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"on" | b"t" => Some(true),
        b"off" | b"f" => Some(false),
        _ => None,
    }
}

fn mend(code: &str) -> &'static str {
    match code {
        "28P01" => "; the password is wrong: look into the URL, PGPASSWORD and ~/.pgpass",
        "28000" => "; its pg_hba.conf does not let this user in from here",
        "3D000" => "; create the database, or name another one",
        "53300" => "; ask for fewer --clients, or raise its max_connections",
        "57P03" => "; it is starting up or shutting down: try again",
        _ => "",
    }
}
