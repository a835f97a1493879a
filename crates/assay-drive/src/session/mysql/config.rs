//! Where a server is and who asks.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::session::connecting::{Place, Secret};
use crate::session::tls::{Identity, Policy, Trust};

const HOST: &str = "127.0.0.1";
const PORT: u16 = 3306;
const TIMEOUT_S: u64 = 10;

/// How far TLS goes, in the words of MySQL's clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// If the server has it; whoever the server is.
    #[default]
    Preferred,
    /// Always; whoever the server is.
    Required,
    /// Always; the certificate is from an authority that is trusted.
    VerifyCa,
    /// And it names the host.
    VerifyIdentity,
}

/// How far TLS goes, whom it trusts, and who the client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// How far it goes; a socket has none.
    #[serde(default)]
    pub mode: TlsMode,
    /// Certificates that are trusted; `None`: the host's.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// The client's certificate.
    #[serde(default)]
    pub cert: Option<PathBuf>,
    /// Its private key.
    #[serde(default)]
    pub key: Option<PathBuf>,
}

impl Tls {
    /// The rules that the mode stands for.
    pub fn policy(&self) -> Policy {
        let verifies = matches!(self.mode, TlsMode::VerifyCa | TlsMode::VerifyIdentity);
        let trust = match &self.ca {
            _ if !verifies => Trust::Anyone,
            Some(path) => Trust::File(path.clone()),
            None => Trust::Host,
        };
        let pair = self.cert.clone().zip(self.key.clone());
        let identity = pair.map(|(certificate, key)| Identity { certificate, key });
        let checks_name = self.mode == TlsMode::VerifyIdentity;
        Policy { trust, checks_name, identity, ..Policy::default() }
    }
}

/// All that a connection needs to know; its JSON form is what engines write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name or address; `None`: this host.
    #[serde(default)]
    pub host: Option<String>,
    /// Port; `None`: the protocol's.
    #[serde(default)]
    pub port: Option<u16>,
    /// Servers that are tried in this order if the one of `host` and `port` takes no connection.
    #[serde(default)]
    pub others: Vec<(String, u16)>,
    /// A Unix socket, which goes before host and port.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    /// Who asks.
    pub user: String,
    /// How they prove it.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Which database; `None`: none at first.
    #[serde(default)]
    pub database: Option<String>,
    /// Encryption.
    #[serde(default)]
    pub tls: Tls,
    /// The key that passwords are encrypted with for this server, known before it is asked.
    #[serde(default)]
    pub server_public_key: Option<PathBuf>,
    /// Whether a password may go to a server that has not proved who it is.
    #[serde(default)]
    pub trusts_any_server: bool,
    /// Statements that each new connection executes before anything else.
    #[serde(default)]
    pub init: Vec<String>,
    /// Seconds until a server that does not answer is given up; `None`: 10.
    #[serde(default)]
    pub timeout_s: Option<u64>,
}

impl Config {
    /// Where the server is.
    pub fn place(&self) -> Place {
        if let Some(path) = &self.socket {
            return Place::Unix(path.clone());
        }
        Place::Tcp(self.host.as_deref().unwrap_or(HOST).into(), self.port.unwrap_or(PORT))
    }

    /// The description of each server, in the order in which they are tried.
    pub fn of_each_server(&self) -> impl Iterator<Item = Self> + '_ {
        let first = Self { others: Vec::new(), ..self.clone() };
        let others = self.others.iter().map(|(host, port)| Self {
            host: Some(host.clone()),
            port: Some(*port),
            others: Vec::new(),
            ..self.clone()
        });
        std::iter::once(first).chain(others)
    }

    /// How long connecting may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S).max(1))
    }

    /// The password's bytes; of none, no bytes.
    pub fn password(&self) -> &[u8] {
        self.password.as_ref().map_or(&[], |secret| secret.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn read(text: &str) -> Result<Config, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_nobody_says_is_as_people_expect() {
        let config = read(r#"{"user": "me"}"#).unwrap();
        assert_eq!(config.place(), Place::Tcp("127.0.0.1".into(), 3306));
        assert_eq!((config.tls.mode, config.password()), (TlsMode::Preferred, b"".as_slice()));
    }

    #[test]
    fn a_socket_goes_first_and_a_password_is_never_shown() {
        let text = r#"{"user": "me", "host": "h", "port": 7, "socket": "/s", "password": "p:w",
            "tls": {"mode": "verify-ca", "ca": "/c"}, "init": ["set a = 1"], "timeout_s": 3}"#;
        let config = read(text).unwrap();
        assert_eq!(config.place(), Place::Unix("/s".into()));
        assert_eq!((config.tls.mode, config.timeout().as_secs()), (TlsMode::VerifyCa, 3));
        assert!(!format!("{config:?}").contains("p:w"));
        assert!(read(r#"{"user": "me", "hots": "h"}"#).unwrap_err().contains("hots"));
        assert!(read(r#"{"user": "me", "tls": {"mode": "yes"}}"#).is_err());
    }

    #[test]
    fn servers_are_tried_in_their_order() {
        let text = r#"{"user": "me", "host": "a", "port": 1, "others": [["b", 2], ["c", 3]]}"#;
        let config = read(text).unwrap();
        let places: Vec<String> =
            config.of_each_server().map(|server| server.place().to_string()).collect();
        assert_eq!(places, ["a:1", "b:2", "c:3"]);
        assert!(config.of_each_server().all(|server| server.user == "me"));
    }

    #[test]
    fn only_the_modes_that_verify_ask_who_the_server_is() {
        let policy = |mode: &str| {
            let text = format!(r#"{{"user": "me", "tls": {{"mode": "{mode}", "ca": "/c"}}}}"#);
            read(&text).unwrap().tls.policy()
        };
        for mode in ["disabled", "preferred", "required"] {
            assert!(!policy(mode).verifies(), "{mode}");
        }
        assert_eq!(policy("verify-ca").trust, Trust::File("/c".into()));
        assert!(!policy("verify-ca").checks_name);
        assert!(policy("verify-identity").checks_name && policy("verify-identity").verifies());
        assert!(read(r#"{"user": "me", "tls": {"mode": "require"}}"#).is_err());
    }
}
