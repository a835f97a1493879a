//! From a description of a server to a connection that awaits its first request.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities, UTF8MB4_GENERAL_CI};
use mysql_common::packets::SslRequest;
use mysql_common::proto::MySerialize;

use super::config::{Config, TlsMode};
use super::packets::{self, ERR, Fields, HEADER_BYTES};
use crate::session::attempt::Attempt;
use crate::session::connecting::{ConnectError, Place, dial_host, dial_socket};
use crate::session::stream::Stream;
use crate::session::tls;

/// No packet before the first request is nearly as long.
const BODY_BYTES_MAX: usize = 1 << 20;
/// The longest packet that is announced; what the server takes is its own setting.
pub(super) const PACKET_BYTES: u32 = 1 << 30;
const PROTOCOL: u8 = 10;
/// Bytes of the random text that proofs are made with.
const NONCE_BYTES: usize = 20;

/// What is asked for. `FOUND_ROWS`: a row that an update matched counts, whether it changed or not.
fn wanted() -> CapabilityFlags {
    CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_FOUND_ROWS
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
}

/// A connection that awaits its first request.
#[derive(Debug)]
pub struct Connection {
    /// The line.
    pub stream: Stream,
    /// When it has to be ready for the first operation.
    pub deadline: Instant,
    /// The number by which the server can be told to kill it.
    pub id: u32,
    /// Rows end with a packet of the newer form.
    pub deprecates_eof: bool,
    /// Columns of a statement that was prepared are told only where they changed.
    pub caches_metadata: bool,
    /// Status flags, as the last answer told them.
    pub status: u16,
}

/// What the server says first.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    id: u32,
    pub(super) nonce: Vec<u8>,
    pub(super) capabilities: CapabilityFlags,
    extensions: MariadbCapabilities,
    pub(super) plugin: Vec<u8>,
}

impl Greeting {
    fn read(body: &[u8]) -> Result<Self, String> {
        let mut fields = Fields(body);
        let protocol = fields.byte()?;
        if protocol != PROTOCOL {
            return Err(format!("version {protocol} of a protocol, where {PROTOCOL} is spoken"));
        }
        text(&mut fields)?;
        let id = fields.long()?;
        let mut nonce = fields.bytes(8)?.to_vec();
        fields.byte()?;
        let low = fields.short()?;
        let _character_set = fields.byte()?;
        let _status = fields.short()?;
        let high = fields.short()?;
        let nonce_length = usize::from(fields.byte()?);
        fields.bytes(6)?;
        let extensions = fields.long()?;
        nonce.extend_from_slice(
            fields.bytes(nonce_length.saturating_sub(8).max(13).min(fields.0.len()))?,
        );
        nonce.resize(NONCE_BYTES, 0);
        let capabilities =
            CapabilityFlags::from_bits_truncate(u32::from(low) | u32::from(high) << 16);
        if !capabilities.contains(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return Err("a server that is older than 4.1".into());
        }
        let plugin = fields.0.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        // Only MariaDB leaves the first flag out, and tells of more in bytes that MySQL reserves.
        let extends = !capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
        let extensions =
            MariadbCapabilities::from_bits_truncate(if extends { extensions } else { 0 });
        Ok(Self { id, nonce, capabilities, extensions, plugin })
    }
}

/// Bytes up to the next zero.
pub(super) fn text<'a>(fields: &mut Fields<'a>) -> Result<&'a [u8], String> {
    let length = fields.0.iter().position(|byte| *byte == 0).ok_or(packets::SHORT)?;
    let text = fields.bytes(length)?;
    fields.byte()?;
    Ok(text)
}

/// A line to the server, and the time by which its server has to be ready.
fn dialled(place: &Place, timeout: Duration, attempt: &Attempt) -> io::Result<(Stream, Instant)> {
    match place {
        Place::Unix(path) => {
            let deadline = Instant::now() + timeout;
            Ok((dial_socket(path, deadline, attempt)?, deadline))
        }
        Place::Tcp(host, port) => {
            let (line, deadline) = dial_host((host, *port), timeout, attempt)?;
            Ok((Stream::Tcp(line), deadline))
        }
    }
}

/// Opens a connection to the server.
pub fn connect(
    config: &Config,
    more: CapabilityFlags,
    attempt: &Attempt,
) -> Result<Connection, ConnectError> {
    let place = config.place();
    let unreached = |error| ConnectError::unreached(&place, config.timeout(), &error);
    let (stream, deadline) = dialled(&place, config.timeout(), attempt).map_err(unreached)?;
    let mut talk = Talk { stream, place: &place, config, number: 0, deadline };
    let body = talk.next()?;
    let greeting = Greeting::read(&body).map_err(|reason| talk.garbled(reason))?;
    let mut capabilities = wanted() | more;
    if config.database.is_some() {
        capabilities |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    }
    let deprecates_eof = greeting.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
    let mut extensions = greeting.extensions & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
    if !deprecates_eof {
        extensions = MariadbCapabilities::empty();
    }
    let talk = talk.secured(&greeting, capabilities, extensions)?;
    let (stream, status) = talk.prove(&greeting, capabilities, extensions)?;
    Ok(Connection {
        stream,
        deadline,
        id: greeting.id,
        deprecates_eof,
        caches_metadata: !extensions.is_empty(),
        status,
    })
}

/// The conversation before the first request.
pub(super) struct Talk<'a> {
    pub(super) stream: Stream,
    place: &'a Place,
    pub(super) config: &'a Config,
    /// The sequence number of the next packet, whoever sends it.
    number: u8,
    /// When the login has to have ended, whatever the server sends.
    deadline: Instant,
}

impl Talk<'_> {
    pub(super) fn send(&mut self, body: &[u8]) -> Result<(), ConnectError> {
        let mut out = Vec::with_capacity(HEADER_BYTES + body.len());
        let place = packets::begin(&mut out);
        out.extend_from_slice(body);
        self.number = packets::end(&mut out, place, self.number);
        let sent = self.stream.write_all(&out).and_then(|()| self.stream.flush());
        sent.map_err(|error| self.unreached(&error))
    }

    /// The next packet; an error of the server is ours.
    pub(super) fn next(&mut self) -> Result<Vec<u8>, ConnectError> {
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        // What answers may be no such server: memory for any length is not taken.
        if length > BODY_BYTES_MAX {
            return Err(
                self.garbled(format!("a packet of {length} bytes before the first request"))
            );
        }
        let mut body = vec![0; length];
        self.fill(&mut body)?;
        if body.first() == Some(&ERR) {
            let error = ServerError::read(&body).map_err(|reason| self.garbled(reason))?;
            return Err(error.refusal(self.place));
        }
        if header[3] != self.number {
            let (came, due) = (header[3], self.number);
            return Err(self.garbled(format!("packet number {came} where {due} was due")));
        }
        self.number = self.number.wrapping_add(1);
        Ok(body)
    }

    /// Reads as many bytes, and waits no longer than until the deadline.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), ConnectError> {
        let mut filled = 0;
        while filled < bytes.len() {
            self.stream.limit(self.deadline).map_err(|error| self.unreached(&error))?;
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => {
                    let gone = io::Error::new(ErrorKind::UnexpectedEof, "it closed the line");
                    return Err(self.unreached(&gone));
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreached(&error)),
            }
        }
        Ok(())
    }

    /// The same over TLS, where both sides want it.
    fn secured(
        mut self,
        greeting: &Greeting,
        capabilities: CapabilityFlags,
        extensions: MariadbCapabilities,
    ) -> Result<Self, ConnectError> {
        let has_tls = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
        let mode = self.config.tls.mode;
        let Place::Tcp(host, _) = self.place else { return Ok(self) };
        if mode == TlsMode::Disabled || mode == TlsMode::Preferred && !has_tls {
            return Ok(self);
        }
        let tls = |reason: String| ConnectError::Tls { place: self.place.to_string(), reason };
        if !has_tls {
            return Err(tls("the server has none; ssl_mode=preferred goes without".into()));
        }
        let mut body = Vec::new();
        let asked = (capabilities | CapabilityFlags::CLIENT_SSL) & greeting.capabilities;
        SslRequest::new(asked, PACKET_BYTES, UTF8MB4_GENERAL_CI as u8)
            .with_mariadb_capabilities(extensions)
            .serialize(&mut body);
        self.send(&body)?;
        let Stream::Tcp(line) = self.stream else { return Ok(self) };
        let encrypted = tls::encrypt(&self.config.tls.policy(), host, line, self.deadline);
        let stream = encrypted.map_err(|error| tls(error.reason))?;
        Ok(Self { stream: Stream::Tls(Box::new(stream)), ..self })
    }

    fn unreached(&self, error: &io::Error) -> ConnectError {
        ConnectError::unreached(self.place, self.config.timeout(), error)
    }

    pub(super) fn proof(&self, what: &str) -> ConnectError {
        ConnectError::Proof { place: self.place.to_string(), what: what.into() }
    }

    pub(super) fn garbled(&self, reason: String) -> ConnectError {
        ConnectError::Protocol { place: self.place.to_string(), product: "MySQL", reason }
    }
}

/// The status flags of an OK packet, behind its first byte.
pub(super) fn status(body: &[u8]) -> Result<u16, String> {
    let mut fields = Fields(body);
    fields.number()?;
    fields.number()?;
    fields.short()
}

/// An error as the server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// Its number.
    pub number: u16,
    /// SQLSTATE.
    pub state: String,
    /// In the server's words.
    pub message: String,
}

impl ServerError {
    /// What is said where no SQLSTATE is.
    const GENERAL: &str = "HY000";

    /// Reads an error packet.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        let mut fields = Fields(body);
        fields.byte()?;
        let number = fields.short()?;
        let state = match fields.0 {
            [b'#', state @ ..] if state.len() >= 5 => {
                fields.bytes(6)?;
                String::from_utf8_lossy(&state[..5]).into_owned()
            }
            _ => Self::GENERAL.into(),
        };
        let words = String::from_utf8_lossy(fields.0);
        let words: Vec<&str> = words.split_whitespace().collect();
        Ok(Self { number, state, message: format!("{} ({number})", words.join(" ")) })
    }

    /// The error as a reason why there is no connection.
    pub fn refusal(self, place: &Place) -> ConnectError {
        ConnectError::Server {
            place: place.to_string(),
            mend: mend(self.number),
            code: self.state,
            message: self.message,
        }
    }
}

fn mend(number: u16) -> &'static str {
    match number {
        1040 => "; ask for fewer --clients, or raise its max_connections",
        1044 => "; grant this user the database, or name another one",
        1045 | 1698 => "; the user or the password is wrong",
        1049 => "; create the database, or name another one",
        1129 => "; it took this host for an attacker: flush hosts there",
        1130 => "; make an account for this host",
        1203 | 1226 => "; ask for fewer --clients, or raise max_user_connections",
        3159 => "; it wants TLS: use ssl_mode=required",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_greeting_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = Greeting::read(&bytes);
            let _ = Greeting::read(&[&[PROTOCOL, b'8', 0], bytes.as_slice()].concat());
            let _ = ServerError::read(&bytes);
            let _ = status(&bytes);
        }
    }

    #[test]
    fn an_error_is_read_with_and_without_its_state() {
        let read = |text: &[u8]| ServerError::read(&[b"\xff\x15\x04", text].concat()).unwrap();
        let error = read(b"#28000Access  denied\n");
        assert_eq!((error.number, error.state.as_str()), (1045, "28000"));
        assert_eq!(error.message, "Access denied (1045)");
        assert_eq!(read(b"Too many connections").state, "HY000");
    }
}
