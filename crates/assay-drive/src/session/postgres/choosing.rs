//! Chooses one of several servers and addresses for each connection, by libpq's rules.
//!
//! Servers are tried in the order of the list, or in a random order; so are the addresses that a name
//! resolves to. An address that takes no connection, or does not answer in time, leads to the next
//! address. A server that is starting up, or is not in the requested state, leads to the next server.
//! Every other error, such as a wrong password, ends the attempt.

use std::fmt;

use assay_model::SplitMix;
use assay_model::random::uniform;

use super::config::{Config, Server};
use super::role::Role;
use super::startup::{Connection, start};
use crate::session::attempt::Attempt;
use crate::session::connecting::{Address, ConnectError};

/// The server starts, stops or recovers.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// One address of one server of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The server, with the name that its certificate has to have and its password.
    pub server: Server,
    /// The address.
    pub address: Address,
}

impl Endpoint {
    /// The host that a certificate has to name, or the address where only that was written.
    pub fn name(&self) -> String {
        match (&self.server.name, &self.address) {
            (Some(name), _) => name.clone(),
            (None, Address::Tcp(address)) => address.ip().to_string(),
            (None, Address::Unix(path)) => path.display().to_string(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.server.name, &self.address) {
            (Some(name), Address::Tcp(address)) if *name != address.ip().to_string() => {
                write!(out, "{name} ({address})")
            }
            (_, address) => write!(out, "{address}"),
        }
    }
}

/// The next attempt after a failed connection: another address, another server, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Address,
    Server,
    Nothing,
}

fn next_after(error: &ConnectError) -> Next {
    match error {
        ConnectError::Refused { .. } | ConnectError::Timeout { .. } => Next::Address,
        ConnectError::Unsuited { .. } => Next::Server,
        ConnectError::Server { code, .. } if code == CANNOT_CONNECT_NOW => Next::Server,
        _ => Next::Nothing,
    }
}

/// Connects to the first server that can be used and is in the requested state. `random` draws the
/// order where the description asks for it.
pub fn connect(
    config: &Config,
    random: &mut SplitMix,
    attempt: &Attempt,
) -> Result<Connection, ConnectError> {
    let mut servers: Vec<&Server> = config.servers.iter().collect();
    if config.spreads {
        shuffle(&mut servers, random);
    }
    let mut errors = Vec::new();
    for role in config.role.rounds() {
        errors.clear();
        for server in &servers {
            let wanted = (*server, *role);
            if let Some(connection) = try_server(config, wanted, random, attempt, &mut errors)? {
                return Ok(connection);
            }
        }
    }
    Err(ConnectError::of_all(servers.len(), errors))
}

/// Connects to one server. `None`: it cannot be used now; `errors` has the reasons. An error ends the
/// attempt for all servers.
fn try_server(
    config: &Config,
    (server, role): (&Server, Role),
    random: &mut SplitMix,
    attempt: &Attempt,
    errors: &mut Vec<ConnectError>,
) -> Result<Option<Connection>, ConnectError> {
    let mut addresses = match server.place.addresses(attempt) {
        Ok(addresses) => addresses,
        Err(error) => {
            errors.push(ConnectError::unreached(&server.place, config.timeout, &error));
            return Ok(None);
        }
    };
    if config.spreads {
        shuffle(&mut addresses, random);
    }
    for address in addresses {
        let endpoint = Endpoint { server: server.clone(), address };
        let error = match start(config, &endpoint, role, attempt) {
            Ok(connection) => return Ok(Some(connection)),
            Err(error) => error,
        };
        let next = next_after(&error);
        if next == Next::Nothing {
            return Err(error);
        }
        errors.push(error);
        if next == Next::Server {
            break;
        }
    }
    Ok(None)
}

/// Brings items into a random order, each order equally likely (Fisher and Yates).
fn shuffle<T>(items: &mut [T], random: &mut SplitMix) {
    for last in (1..items.len()).rev() {
        items.swap(last, uniform(random, (0, last as i64)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::connecting::Place;

    fn refused() -> ConnectError {
        ConnectError::Refused { place: "a:1".into(), reason: "refused".into() }
    }

    #[test]
    fn an_error_of_the_address_leads_on_and_one_of_the_user_does_not() {
        let server = |code: &str| ConnectError::Server {
            place: "a:1".into(),
            code: code.into(),
            message: "no".into(),
            mend: "",
        };
        let lost = ConnectError::Lost { place: "a:1".into(), reason: "closed".into() };
        let unsuited = ConnectError::Unsuited { place: "a:1".into(), reason: "standby".into() };
        let timeout = ConnectError::Timeout { place: "a:1".into(), seconds: 1 };
        for (error, next) in [
            (refused(), Next::Address),
            (timeout, Next::Address),
            (unsuited, Next::Server),
            (server("57P03"), Next::Server),
            (server("28P01"), Next::Nothing),
            (server("53300"), Next::Nothing),
            (lost, Next::Nothing),
        ] {
            assert_eq!(next_after(&error), next, "{error}");
        }
    }

    #[test]
    fn every_order_of_three_servers_is_drawn_about_as_often() {
        let mut random = SplitMix::new(7);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random);
            *counts.entry(items).or_insert(0) += 1;
        }
        // The standard deviation of each count is 29.
        assert!(counts.len() == 6 && counts.values().all(|count| (850..1150).contains(count)));
    }

    #[test]
    fn the_error_of_a_list_has_the_reason_of_each_server() {
        assert_eq!(ConnectError::of_all(1, vec![refused()]).to_string(), refused().to_string());
        let text = ConnectError::of_all(2, vec![refused(), refused()]).to_string();
        assert!(text.starts_with("none of the 2 servers") && text.matches("a:1").count() == 2);
    }

    #[test]
    fn an_address_is_shown_with_the_name_that_led_to_it() {
        let endpoint = |name: Option<&str>| Endpoint {
            server: Server {
                place: Place::Tcp("127.0.0.1".into(), 1),
                name: name.map(str::to_owned),
                password: None,
            },
            address: Address::Tcp(([127, 0, 0, 1], 1).into()),
        };
        assert_eq!(endpoint(None).to_string(), "127.0.0.1:1");
        assert_eq!(endpoint(Some("127.0.0.1")).to_string(), "127.0.0.1:1");
        assert_eq!(endpoint(Some("db")).to_string(), "db (127.0.0.1:1)");
    }
}
