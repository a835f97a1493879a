//! One line to an endpoint: a request is sent, and its response received.

use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};

use super::config::Config;
use super::response::Response;
use crate::session::attempt::Attempt;
use crate::session::connecting::{ConnectError, SslMode, dial_host};
use crate::session::line::{Outbox, Received, receive};
use crate::session::stream::Stream;
use crate::session::tls;
use crate::session::{SessionError, linked};

const NO_PROTOCOL: &str = "08P01";
const READ_BYTES: usize = 32 << 10;

/// One line at work.
pub struct Link {
    stream: Stream,
    out: Outbox<Vec<u8>>,
    read: Box<[u8]>,
    /// What came in.
    pub response: Response,
    /// Whether the line served a request before the one under way.
    pub served: bool,
}

/// The error of a server that speaks something else.
pub fn garbled(reason: impl std::fmt::Display) -> SessionError {
    let message = format!("the server's answer is no response of HTTP/1.1: {reason}");
    SessionError { class: NO_PROTOCOL.into(), message, retryable: false }
}

impl linked::Link for Link {
    fn set_nonblocking(&mut self, nonblocking: bool) -> Result<(), SessionError> {
        self.stream.set_nonblocking(nonblocking).map_err(SessionError::broken)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn lost() -> SessionError {
        SessionError::broken("the connection was lost")
    }
}

impl Link {
    /// Connects.
    pub fn open(config: &Config, attempt: &Attempt) -> Result<Self, ConnectError> {
        let place = config.place();
        let unreached = |error| ConnectError::unreached(&place, config.timeout(), &error);
        let server = (config.host.as_str(), config.port);
        let (line, deadline) = dial_host(server, config.timeout(), attempt).map_err(unreached)?;
        let stream = match &config.tls {
            None => Stream::Tcp(line),
            Some(tls) if tls.mode == SslMode::Disable => Stream::Tcp(line),
            Some(tls) => {
                let encrypted = tls::encrypt(&tls.policy(), &config.host, line, deadline);
                Stream::Tls(Box::new(encrypted.map_err(|error| ConnectError::Tls {
                    place: place.to_string(),
                    reason: error.reason,
                })?))
            }
        };
        stream.set_timeout(None).map_err(unreached)?;
        Ok(Self {
            stream,
            out: Outbox::new(Vec::with_capacity(4 << 10)),
            read: vec![0; READ_BYTES].into_boxed_slice(),
            response: Response::default(),
            served: false,
        })
    }

    /// Begins a request, which is sent by `flush`.
    pub fn ask(&mut self, request: &[u8]) {
        self.out.clear();
        self.out.bytes.extend_from_slice(request);
        self.response.begin();
        self.response.body.clear();
    }

    /// Whether nothing waits to be sent.
    pub fn all_sent(&self) -> bool {
        self.out.is_empty()
    }

    /// Sends what waits; false if the system takes no more now.
    pub fn flush(&mut self) -> Result<bool, SessionError> {
        self.out.send(&mut self.stream).map_err(SessionError::broken)
    }

    /// Reads once. The response has taken what came.
    pub fn read(&mut self) -> Result<Received, SessionError> {
        match receive(&mut self.stream, &mut self.read) {
            Ok(Received::Bytes(count)) => {
                self.response.feed(&self.read[..count]).map_err(garbled)?;
                self.acknowledge();
                Ok(Received::Bytes(count))
            }
            // Some servers end an encrypted line without saying so.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Received::End),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(Received::End),
            received => received.map_err(SessionError::broken),
        }
    }

    /// Has the system tell the server at once that bytes have come. It waits 40 ms else, and a server
    /// that gathers small pieces sends the rest of its answer no sooner. It forgets, so it is told of
    /// each read; where it cannot be told, the answer is only later.
    fn acknowledge(&self) {
        let _ = rustix::net::sockopt::set_tcp_quickack(self.stream.as_fd(), true);
    }
}
