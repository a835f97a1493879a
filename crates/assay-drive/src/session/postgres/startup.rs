//! From a description of a server to a connection that awaits its first request.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;

use super::config::Config;
use crate::session::connecting::{ConnectError, Place, SslMode, dial_host, dial_socket, is_near};
use crate::session::stream::Stream;
use crate::session::tls;

const READ_BYTES: usize = 4 << 10;
/// No message before the first request is nearly as long.
const MESSAGE_BYTES_MAX: u32 = 1 << 20;

/// A connection that awaits its first request.
#[derive(Debug)]
pub struct Connection {
    /// The line.
    pub stream: Stream,
    /// Where it leads.
    pub place: Place,
    /// The server's process behind it.
    pub backend_pid: i32,
    /// Proves that a request to cancel comes from us.
    pub secret_key: i32,
    /// What the server tells of itself, such as `server_version`.
    pub parameters: BTreeMap<String, String>,
    /// Bytes that came with the end of the start.
    pub unread: BytesMut,
}

/// Connects to the first place that answers.
pub fn connect(config: &Config) -> Result<Connection, ConnectError> {
    let mut last = None;
    for place in &config.places {
        match start(config, place) {
            Err(error) if error.elsewhere() => last = Some(error),
            ended => return ended,
        }
    }
    Err(last.unwrap_or_else(|| ConnectError::Refused {
        place: "nowhere".into(),
        reason: "no host was named".into(),
    }))
}

/// Opens a line to a place, encrypted as the configuration asks.
pub fn open(config: &Config, place: &Place) -> Result<Stream, ConnectError> {
    let failed = |error| unreached(config, place, &error);
    match place {
        Place::Unix(path) => dial_socket(path, config.timeout).map_err(failed),
        Place::Tcp(host, port) => {
            let line = dial_host(host, *port, config.timeout).map_err(failed)?;
            secured(config, place, host, line)
        }
    }
}

fn secured(
    config: &Config,
    place: &Place,
    host: &str,
    mut line: TcpStream,
) -> Result<Stream, ConnectError> {
    if config.ssl == SslMode::Disable {
        return Ok(Stream::Tcp(line));
    }
    let failed = |error| unreached(config, place, &error);
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    line.write_all(&request).map_err(failed)?;
    let mut answer = [0];
    line.read_exact(&mut answer).map_err(failed)?;
    let tls = |reason: String| ConnectError::Tls { place: place.to_string(), reason };
    match (answer[0], config.ssl) {
        (b'S', _) => Ok(Stream::Tls(Box::new(
            tls::encrypt(config.ssl, config.trusted.as_deref(), host, line).map_err(tls)?,
        ))),
        (b'N', SslMode::Prefer) => Ok(Stream::Tcp(line)),
        (b'N', _) => Err(tls("the server has none; sslmode=prefer goes without".into())),
        (other, _) => Err(garbled(place, format!("{other:#04x} in answer to a request for TLS"))),
    }
}

fn unreached(config: &Config, place: &Place, error: &io::Error) -> ConnectError {
    ConnectError::unreached(place, config.timeout, error)
}

fn garbled(place: &Place, reason: String) -> ConnectError {
    ConnectError::Protocol { place: place.to_string(), product: "PostgreSQL", reason }
}

fn start(config: &Config, place: &Place) -> Result<Connection, ConnectError> {
    let stream = open(config, place)?;
    let near = is_near(&stream);
    let mut talk = Talk { stream, place, config, out: BytesMut::new(), unread: BytesMut::new() };
    let mut parameters = vec![
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("application_name", config.application.as_str()),
        ("client_encoding", "UTF8"),
    ];
    parameters.extend(config.options.as_deref().map(|options| ("options", options)));
    frontend::startup_message(parameters, &mut talk.out).map_err(|error| talk.garbled(&error))?;
    talk.send()?;
    talk.prove(near)?;
    talk.settle()
}

/// The conversation before the first request.
struct Talk<'a> {
    stream: Stream,
    place: &'a Place,
    config: &'a Config,
    out: BytesMut,
    unread: BytesMut,
}

impl Talk<'_> {
    fn send(&mut self) -> Result<(), ConnectError> {
        let sent = self.stream.write_all(&self.out).and_then(|()| self.stream.flush());
        self.out.clear();
        sent.map_err(|error| unreached(self.config, self.place, &error))
    }

    fn next(&mut self) -> Result<Message, ConnectError> {
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
                    return Err(unreached(self.config, self.place, &gone));
                }
                Ok(count) => self.unread.extend_from_slice(&bytes[..count]),
                Err(error) => return Err(unreached(self.config, self.place, &error)),
            }
        }
    }

    /// What answers may be no such server: memory for a message of any length is not taken.
    fn check_length(&self) -> Result<(), ConnectError> {
        let Some(header) = self.unread.get(1..5) else { return Ok(()) };
        let length = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        if length > MESSAGE_BYTES_MAX {
            let told = format!("a message of {length} bytes before the first request");
            return Err(self.garbled(&io::Error::other(told)));
        }
        Ok(())
    }

    /// Answers what the server asks, until it is content.
    fn prove(&mut self, near: bool) -> Result<(), ConnectError> {
        let password = self.config.password.clone();
        let known = |talk: &Self| {
            password.clone().map(|secret| secret.0).ok_or_else(|| {
                talk.proof(
                    "a password, and none is known: put it into the password file (~/.pgpass), into \
                     PGPASSWORD or into the URL",
                )
            })
        };
        loop {
            match self.next()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartextPassword => {
                    if !near {
                        return Err(self.proof(
                            "the password in the clear over a line that others can read: use \
                             sslmode=require",
                        ));
                    }
                    let password = known(self)?;
                    self.password(password.as_bytes())?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let password = known(self)?;
                    let user = self.config.user.as_bytes();
                    let hash = md5_hash(user, password.as_bytes(), body.salt());
                    self.password(hash.as_bytes())?;
                }
                Message::AuthenticationSasl(body) => {
                    let offered = body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256));
                    if !offered.map_err(|error| self.garbled(&error))? {
                        return Err(self.proof("a kind of SASL other than SCRAM-SHA-256"));
                    }
                    let password = known(self)?;
                    self.scram(&password)?;
                }
                _ => {
                    return Err(self.proof(
                        "a proof other than a password (Kerberos, GSSAPI or SSPI): use a role with a \
                         password",
                    ));
                }
            }
        }
    }

    fn password(&mut self, text: &[u8]) -> Result<(), ConnectError> {
        frontend::password_message(text, &mut self.out).map_err(|error| self.garbled(&error))?;
        self.send()
    }

    fn scram(&mut self, password: &str) -> Result<(), ConnectError> {
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.out)
            .map_err(|error| self.garbled(&error))?;
        self.send()?;
        let Message::AuthenticationSaslContinue(body) = self.next()? else {
            return Err(self.proof("something else in the middle of SCRAM"));
        };
        scram.update(body.data()).map_err(|error| self.garbled(&error))?;
        frontend::sasl_response(scram.message(), &mut self.out)
            .map_err(|error| self.garbled(&error))?;
        self.send()?;
        let Message::AuthenticationSaslFinal(body) = self.next()? else {
            return Err(self.proof("something else at the end of SCRAM"));
        };
        scram.finish(body.data()).map_err(|error| self.garbled(&error))
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
        lasting.map_err(|error| unreached(self.config, self.place, &error))?;
        Ok(Connection {
            stream: self.stream,
            place: self.place.clone(),
            backend_pid,
            secret_key,
            parameters,
            unread: self.unread,
        })
    }

    fn proof(&self, what: &str) -> ConnectError {
        ConnectError::Proof { place: self.place.to_string(), what: what.into() }
    }

    fn garbled(&self, error: &io::Error) -> ConnectError {
        garbled(self.place, error.to_string())
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
        ConnectError::Server { place: self.place.to_string(), code, message, mend }
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
