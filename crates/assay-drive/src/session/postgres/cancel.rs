//! Asks a server to end what it is doing for one of its connections.

use std::io::{Read, Write};
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::choosing::Endpoint;
use super::config::Config;
use crate::session::attempt::Attempt;
use crate::session::connecting::ConnectError;
use crate::session::interrupt::{ANSWER_PATIENCE, Means};
use crate::session::linked::closer;

use super::startup::{Connection, Method, open};

/// What is needed to end what one connection's server process is doing.
#[derive(Clone, Debug)]
pub struct Cancel {
    config: Config,
    endpoint: Endpoint,
    method: Method,
    backend_pid: i32,
    secret_key: i32,
}

impl Cancel {
    /// For a connection made with `config`.
    pub fn new(config: &Config, connection: &Connection) -> Self {
        Self {
            config: Config { timeout: ANSWER_PATIENCE, ..config.clone() },
            endpoint: connection.endpoint.clone(),
            method: Method::of(&connection.stream),
            backend_pid: connection.backend_pid,
            secret_key: connection.secret_key,
        }
    }

    /// Sends the request over a line of its own and waits until the server has taken it. Whether
    /// it came in time shows in how the operation ends.
    pub fn send(&self) -> Result<(), ConnectError> {
        let deadline = Instant::now() + self.config.timeout;
        let mut line =
            open(&self.config, &self.endpoint, self.method, deadline, &Attempt::default())?;
        let mut request = BytesMut::new();
        frontend::cancel_request(self.backend_pid, self.secret_key, &mut request);
        let sent = line.write_all(&request).and_then(|()| line.flush());
        sent.map_err(|error| ConnectError::Refused {
            place: "the server".into(),
            reason: error.to_string(),
        })?;
        // The server closes the line once it has told its process; it says nothing.
        let _ = line.read(&mut [0]);
        Ok(())
    }
}

/// How a connection is interrupted: over a line of its own, or by closing it.
pub fn means(config: &Config, connection: &Connection) -> Option<Means> {
    let cancel = Cancel::new(config, connection);
    let cut = Box::new(closer(&connection.stream)?);
    Some(Means {
        ask: Box::new(move || {
            let _: Result<(), ConnectError> = cancel.send();
        }),
        cut,
    })
}
