//! Where an endpoint is, who asks, and how answers are to be written.

use std::time::Duration;

use serde::Deserialize;

use super::answer::Form;
use crate::session::connecting::{Place, Secret};
use crate::session::tls::Tls;

const TIMEOUT_S: u64 = 10;

/// How a query is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// As the body of a POST.
    #[default]
    Post,
    /// In the address of a GET.
    Get,
}

/// How rows are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Results {
    /// As JSON.
    #[default]
    Json,
    /// As values between tabs.
    Tsv,
}

impl Results {
    /// How they are written then.
    pub const fn form(self) -> Form {
        match self {
            Self::Json => Form::Json,
            Self::Tsv => Form::Tsv,
        }
    }
}

/// All that a session needs to know; its JSON form is what engines write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Encryption; `None`: there is none.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// What of the address follows the port, for queries: `/sparql?default-graph-uri=...`.
    pub query: String,
    /// The same for updates; `None`: they are refused.
    #[serde(default)]
    pub update: Option<String>,
    /// How a query is sent.
    #[serde(default)]
    pub method: Method,
    /// How rows are asked for.
    #[serde(default)]
    pub results: Results,
    /// All of the header that says who asks: `Basic ...`; `None`: nobody.
    #[serde(default)]
    pub authorization: Option<Secret>,
    /// Seconds until a server that does not answer is given up; `None`: 10.
    #[serde(default)]
    pub timeout_s: Option<u64>,
}

impl Config {
    /// Where the server is.
    pub fn place(&self) -> Place {
        Place::Tcp(self.host.clone(), self.port)
    }

    /// How long connecting may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let text = r#"{"host": "h", "port": 1, "query": "/q", "results": "tsv", "method": "get",
            "authorization": "Basic c2VjcmV0"}"#;
        let config: Config = serde_json::from_str(text).unwrap();
        assert_eq!((config.results, config.method), (Results::Tsv, Method::Get));
        assert!(!format!("{config:?}").contains("c2VjcmV0"));
        let wrong = text.replace("\"port\"", "\"prot\"");
        assert!(serde_json::from_str::<Config>(&wrong).is_err());
    }
}
