//! From a description of a server to a connection that awaits its first request.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use assay_kernel::user::name_of_user;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::config::{Config, Server};
use super::role::Role;
use crate::session::connecting::{ConnectError, Place, SslMode, dial_host, dial_socket};
use crate::session::stream::Stream;
use crate::session::tls;

const READ_BYTES: usize = 4 << 10;
/// No message before the first request is nearly as long.
const MESSAGE_BYTES_MAX: u32 = 1 << 20;
/// The server starts, stops or recovers.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// A connection that awaits its first request.
#[derive(Debug)]
pub struct Connection {
    /// The line.
    pub stream: Stream,
    /// Where it leads.
    pub server: Server,
    /// The server's process behind it.
    pub backend_pid: i32,
    /// Proves that a request to cancel comes from us.
    pub secret_key: i32,
    /// What the server tells of itself, such as `server_version`.
    pub parameters: BTreeMap<String, String>,
    /// Bytes that came with the end of the start.
    pub unread: BytesMut,
}

/// Connects to the first server that answers and is what was asked for.
pub fn connect(config: &Config) -> Result<Connection, ConnectError> {
    let mut last = None;
    for role in config.role.rounds() {
        for server in &config.servers {
            match start(config, server, *role) {
                Err(error) if is_elsewhere(&error) => last = Some(error),
                ended => return ended,
            }
        }
    }
    Err(last.unwrap_or_else(|| ConnectError::Refused {
        place: "nowhere".into(),
        reason: "no host was named".into(),
    }))
}

/// Whether another server of the list may do better.
fn is_elsewhere(error: &ConnectError) -> bool {
    let is_busy = matches!(error, ConnectError::Server { code, .. } if code == CANNOT_CONNECT_NOW);
    error.elsewhere() || is_busy
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
const fn methods(config: &Config, place: &Place) -> &'static [Method] {
    match (place, config.ssl) {
        (Place::Unix(_), _) | (_, SslMode::Disable) => &[Method::Clear],
        (_, SslMode::Allow) => &[Method::Clear, Method::Tls],
        (_, SslMode::Prefer) => &[Method::Tls, Method::Clear],
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => &[Method::Tls],
    }
}

fn start(config: &Config, server: &Server, role: Role) -> Result<Connection, ConnectError> {
    let mut failed: Option<ConnectError> = None;
    for method in methods(config, &server.place) {
        let error = match begin(config, server, *method) {
            Ok(connection) => return taken(connection, role),
            Err(error) => error,
        };
        let is_final = matches!(error, ConnectError::Timeout { .. } | ConnectError::Proof { .. });
        // Of two errors, the one of the encrypted line says more.
        if failed.is_none() || *method == Method::Tls {
            failed = Some(error);
        }
        if is_final {
            break;
        }
    }
    Err(failed.unwrap_or_else(|| ConnectError::Refused {
        place: server.place.to_string(),
        reason: "no way to connect is left".into(),
    }))
}

fn taken(connection: Connection, role: Role) -> Result<Connection, ConnectError> {
    let Some(reason) = role.refusal(&connection.parameters) else { return Ok(connection) };
    Err(ConnectError::Refused {
        place: connection.server.place.to_string(),
        reason: format!("{reason}, and target_session_attrs wants another one"),
    })
}

/// Opens a line to a server, encrypted or not.
pub fn open(config: &Config, server: &Server, method: Method) -> Result<Stream, ConnectError> {
    let place = &server.place;
    let failed = |error| unreached(config, place, &error);
    match place {
        Place::Unix(path) => {
            let stream = dial_socket(path, config.timeout).map_err(failed)?;
            check_peer(config, place, &stream)?;
            Ok(stream)
        }
        Place::Tcp(host, port) => {
            let line = dial_host(host, *port, config.timeout).map_err(failed)?;
            match method {
                Method::Clear => Ok(Stream::Tcp(line)),
                Method::Tls => secured(config, server, host, line),
            }
        }
    }
}

/// Refuses a socket behind which there is another user's process than `requirepeer` names.
fn check_peer(config: &Config, place: &Place, stream: &Stream) -> Result<(), ConnectError> {
    let Some(wanted) = &config.peer else { return Ok(()) };
    let peer = rustix::net::sockopt::socket_peercred(stream);
    let peer = peer.map_err(|error| unreached(config, place, &error.into()))?;
    let name = name_of_user(peer.uid.as_raw());
    if name.as_ref() == Some(wanted) {
        return Ok(());
    }
    let name = name.unwrap_or_else(|| peer.uid.as_raw().to_string());
    Err(ConnectError::Proof {
        place: place.to_string(),
        what: format!("trust as the user {name}, and requirepeer names {wanted}"),
    })
}

fn secured(
    config: &Config,
    server: &Server,
    host: &str,
    mut line: TcpStream,
) -> Result<Stream, ConnectError> {
    let place = &server.place;
    let failed = |error| unreached(config, place, &error);
    let tls = |reason: String| ConnectError::Tls { place: place.to_string(), reason };
    check_files(config, server).map_err(tls)?;
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
                return Err(garbled(place, reason));
            }
        }
    }
    let name = server.name.as_deref().unwrap_or(host);
    let encrypted = tls::encrypt(&config.tls, name, line).map_err(tls)?;
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

pub(super) fn unreached(config: &Config, place: &Place, error: &io::Error) -> ConnectError {
    ConnectError::unreached(place, config.timeout, error)
}

fn garbled(place: &Place, reason: String) -> ConnectError {
    ConnectError::Protocol { place: place.to_string(), product: "PostgreSQL", reason }
}

fn begin(config: &Config, server: &Server, method: Method) -> Result<Connection, ConnectError> {
    let stream = open(config, server, method)?;
    let mut talk = Talk { stream, server, config, out: BytesMut::new(), unread: BytesMut::new() };
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
    talk.settle()
}

/// The conversation before the first request.
pub(super) struct Talk<'a> {
    pub(super) stream: Stream,
    pub(super) server: &'a Server,
    pub(super) config: &'a Config,
    pub(super) out: BytesMut,
    unread: BytesMut,
}

impl Talk<'_> {
    pub(super) fn send(&mut self) -> Result<(), ConnectError> {
        let sent = self.stream.write_all(&self.out).and_then(|()| self.stream.flush());
        self.out.clear();
        sent.map_err(|error| self.unreached(&error))
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
            match self.stream.read(&mut bytes) {
                Ok(0) => {
                    let gone = io::Error::new(ErrorKind::UnexpectedEof, "it closed the line");
                    return Err(self.unreached(&gone));
                }
                Ok(count) => self.unread.extend_from_slice(&bytes[..count]),
                Err(error) => return Err(self.unreached(&error)),
            }
        }
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
    fn settle(mut self) -> Result<Connection, ConnectError> {
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
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        let lasting = self.stream.set_timeout(None);
        lasting.map_err(|error| self.unreached(&error))?;
        let server = self.server.clone();
        let (stream, unread) = (self.stream, self.unread);
        Ok(Connection { stream, server, backend_pid, secret_key, parameters, unread })
    }

    fn unreached(&self, error: &io::Error) -> ConnectError {
        unreached(self.config, &self.server.place, error)
    }

    pub(super) fn proof(&self, what: &str) -> ConnectError {
        ConnectError::Proof { place: self.server.place.to_string(), what: what.into() }
    }

    pub(super) fn garbled(&self, error: &io::Error) -> ConnectError {
        garbled(&self.server.place, error.to_string())
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
        ConnectError::Server { place: self.server.place.to_string(), code, message, mend }
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
