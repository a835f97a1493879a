//! Asks a server to end what it is doing for one of its connections.

use mysql_common::constants::CapabilityFlags;

use super::config::Config;
use super::link::Link;
use crate::session::attempt::Attempt;
use crate::session::interrupt::ANSWER_PATIENCE;

/// What is needed to end what a connection's statement is doing.
#[derive(Debug)]
pub struct Cancel {
    config: Config,
    id: u32,
}

impl Cancel {
    /// For the connection of this number, made with `config`.
    pub fn new(config: &Config, id: u32) -> Self {
        let timeout_s = Some(ANSWER_PATIENCE.as_secs());
        let config = Config { timeout_s, init: Vec::new(), ..config.clone() };
        Self { config, id }
    }

    /// Sends the request over a line of its own and waits until the server has taken it. Whether
    /// it came in time shows in how the operation ends.
    pub fn send(&self) {
        if let Ok(mut link) =
            Link::open(&self.config, CapabilityFlags::empty(), &Attempt::default())
        {
            // The statement may have ended by itself; then the server knows of nothing to end.
            let _ = link.command(&format!("kill query {}", self.id));
        }
    }
}
