//! Asks a server to end what it is doing for one of its connections.

use mysql_common::constants::CapabilityFlags;

use super::config::Config;
use super::link::Link;
use crate::session::attempt::Attempt;
use crate::session::interrupt::ANSWER_PATIENCE;

/// What is needed to end what a connection's statement is doing.
#[derive(Debug)]
pub struct Cancel {
    /// Of a connection that does so at its start, within the time that a start has.
    config: Config,
}

impl Cancel {
    /// For the connection of this number, made with `config`.
    pub fn new(config: &Config, id: u32) -> Self {
        let timeout_s = Some(ANSWER_PATIENCE.as_secs());
        let init = vec![format!("kill query {id}")];
        Self { config: Config { init, timeout_s, ..config.clone() } }
    }

    /// Sends the request over a line of its own and waits until the server has taken it. Whether
    /// it came in time shows in how the operation ends: the statement may have ended by itself, and
    /// then the server knows of nothing to end.
    pub fn send(&self) {
        let _ = Link::open(&self.config, CapabilityFlags::empty(), &Attempt::default());
    }
}
