//! One line to an endpoint: a request is sent, and its response received.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use super::config::Config;
use super::response::Response;
use crate::session::SessionError;
use crate::session::connecting::{ConnectError, SslMode, dial_host};
use crate::session::stream::Stream;
use crate::session::tls;

const CONNECTION_LOST: &str = "08006";
const NO_PROTOCOL: &str = "08P01";
const READ_BYTES: usize = 32 << 10;

/// One line at work.
pub struct Link {
    stream: Stream,
    out: Vec<u8>,
    sent: usize,
    read: Box<[u8]>,
    /// What came in.
    pub response: Response,
    /// Whether the line served a request before the one under way.
    pub served: bool,
}

/// The error of a line that is gone.
pub fn broken(message: impl std::fmt::Display) -> SessionError {
    SessionError { class: CONNECTION_LOST.into(), message: message.to_string(), retryable: false }
}

/// The error of a server that speaks something else.
pub fn garbled(reason: impl std::fmt::Display) -> SessionError {
    let message = format!("the server's answer is no response of HTTP/1.1: {reason}");
    SessionError { class: NO_PROTOCOL.into(), message, retryable: false }
}

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Bytes, which the response has taken.
    Bytes,
    /// Nothing yet.
    Nothing,
    /// The end of the line.
    End,
}

impl Link {
    /// Connects.
    pub fn open(config: &Config) -> Result<Self, ConnectError> {
        let place = config.place();
        let unreached = |error| ConnectError::unreached(&place, config.timeout(), &error);
        let line = dial_host(&config.host, config.port, config.timeout()).map_err(unreached)?;
        let stream = match &config.tls {
            None => Stream::Tcp(line),
            Some(tls) if tls.mode == SslMode::Disable => Stream::Tcp(line),
            Some(told) => {
                let encrypted = tls::encrypt(told.mode, told.ca.as_deref(), &config.host, line);
                let refused = |reason| ConnectError::Tls { place: place.to_string(), reason };
                Stream::Tls(Box::new(encrypted.map_err(refused)?))
            }
        };
        stream.set_timeout(None).map_err(unreached)?;
        Ok(Self {
            stream,
            out: Vec::with_capacity(4 << 10),
            sent: 0,
            read: vec![0; READ_BYTES].into_boxed_slice(),
            response: Response::default(),
            served: false,
        })
    }

    /// Whether reads and writes return at once.
    pub fn set_nonblocking(&self, nonblocking: bool) -> Result<(), SessionError> {
        self.stream.set_nonblocking(nonblocking).map_err(broken)
    }

    /// What an epoll can watch.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Begins a request, which is sent by `flush`.
    pub fn ask(&mut self, request: &[u8]) {
        self.out.clear();
        self.out.extend_from_slice(request);
        self.sent = 0;
        self.response.begin();
        self.response.body.clear();
    }

    /// Whether nothing waits to be sent.
    pub const fn all_sent(&self) -> bool {
        self.sent == self.out.len()
    }

    /// Sends what waits; false if the system takes no more now.
    pub fn flush(&mut self) -> Result<bool, SessionError> {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(0) => return Err(broken("the server closed the connection")),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(broken(error)),
            }
        }
        match self.stream.flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            flushed => flushed.map(|()| true).map_err(broken),
        }
    }

    /// Reads once.
    pub fn read(&mut self) -> Result<Found, SessionError> {
        loop {
            match self.stream.read(&mut self.read) {
                Ok(0) => return Ok(Found::End),
                Ok(count) => {
                    self.response.feed(&self.read[..count]).map_err(garbled)?;
                    self.acknowledge();
                    return Ok(Found::Bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Found::Nothing),
                // Some servers end an encrypted line without saying so.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Found::End),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Found::End),
                Err(error) => return Err(broken(error)),
            }
        }
    }

    /// Has the system tell the server at once that bytes have come. It waits 40 ms else, and a server
    /// that gathers small pieces sends the rest of its answer no sooner. It forgets, so it is told of
    /// each read; where it cannot be told, the answer is only later.
    fn acknowledge(&self) {
        let _ = rustix::net::sockopt::set_tcp_quickack(self.stream.as_fd(), true);
    }
}
