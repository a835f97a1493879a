//! Where a server is and who asks.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::session::connecting::{Place, Secret};
use crate::session::tls::Tls;

const HOST: &str = "127.0.0.1";
const PORT: u16 = 3306;
const TIMEOUT_S: u64 = 10;

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
    use crate::session::connecting::SslMode;

    fn read(text: &str) -> Result<Config, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_nobody_says_is_as_people_expect() {
        let config = read(r#"{"user": "me"}"#).unwrap();
        assert_eq!(config.place(), Place::Tcp("127.0.0.1".into(), 3306));
        assert_eq!((config.tls.mode, config.password()), (SslMode::Prefer, b"".as_slice()));
    }

    #[test]
    fn a_socket_goes_first_and_a_password_is_never_shown() {
        let text = r#"{"user": "me", "host": "h", "port": 7, "socket": "/s", "password": "p:w",
            "tls": {"mode": "verify-ca", "ca": "/c"}, "init": ["set a = 1"], "timeout_s": 3}"#;
        let config = read(text).unwrap();
        assert_eq!(config.place(), Place::Unix("/s".into()));
        assert_eq!((config.tls.mode, config.timeout().as_secs()), (SslMode::VerifyCa, 3));
        assert!(!format!("{config:?}").contains("p:w"));
        assert!(read(r#"{"user": "me", "hots": "h"}"#).unwrap_err().contains("hots"));
        assert!(read(r#"{"user": "me", "tls": {"mode": "yes"}}"#).is_err());
    }
}
