//! A statement as it goes to an endpoint: all that stays the same is written once.

use super::config::{Config, Method};
use super::request::{Kind, Request, Unwritable};
use crate::session::SessionError;
use crate::session::value::Bound;

const OF_GRAPHS: &str = "application/n-triples";
const OF_ROWS: &str = "application/sparql-results+json";
const OF_TABLES: &str = "text/tab-separated-values";

/// One statement's requests.
#[derive(Clone, Debug)]
pub struct Sent {
    request: Request,
    /// Up to the length of the body, or up to the query in an address.
    before: Vec<u8>,
    /// Behind a query in an address.
    behind: Vec<u8>,
    method: Method,
}

impl Sent {
    /// The requests of a statement.
    ///
    /// # Errors
    /// If it is an update and the configuration names no place for those.
    pub fn read(config: &Config, text: &str) -> Result<Self, SessionError> {
        let request = Request::read(text);
        let update = request.kind == Kind::Update;
        let target = match (update, &config.update) {
            (false, _) => &config.query,
            (true, Some(target)) => target,
            (true, None) => {
                return Err(SessionError {
                    class: "update".into(),
                    message:
                        "an operation changes the data, and no endpoint for updates is named: \
                              write it into the URL, as in ?update=/ds/update"
                            .into(),
                    retryable: false,
                });
            }
        };
        let method = if update { Method::Post } else { config.method };
        let fields = fields(config, accepted(config, request.kind));
        Ok(match method {
            Method::Post => {
                let kind = if update { "update" } else { "query" };
                let before = format!(
                    "POST {target} HTTP/1.1\r\n{fields}Content-Type: application/sparql-{kind}\r\n\
                     Content-Length: "
                );
                Self { request, before: before.into(), behind: Vec::new(), method }
            }
            Method::Get => {
                let joint = if target.contains('?') { '&' } else { '?' };
                let before = format!("GET {target}{joint}query=");
                let behind = format!(" HTTP/1.1\r\n{fields}\r\n");
                Self { request, before: before.into(), behind: behind.into(), method }
            }
        })
    }

    /// What it asks for.
    pub const fn kind(&self) -> Kind {
        self.request.kind
    }

    /// Writes the request with these values in place of whatever `out` holds.
    pub fn write<'v>(
        &self,
        value: impl Fn(usize) -> Option<Bound<'v>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        out.clear();
        out.extend_from_slice(&self.before);
        let begin = out.len();
        match self.method {
            Method::Post => {
                // The length is known behind the text; its place is kept by blanks, which a field may
                // begin with.
                out.extend_from_slice(LENGTH);
                let text = out.len();
                self.request.write(value, out)?;
                let mut digits = itoa::Buffer::new();
                let digits = digits.format(out.len() - text).as_bytes();
                out[begin..begin + DIGITS][DIGITS - digits.len()..].copy_from_slice(digits);
            }
            Method::Get => {
                self.request.write(value, out)?;
                let text = out.split_off(begin);
                write_encoded(&text, out);
                out.extend_from_slice(&self.behind);
            }
        }
        Ok(())
    }
}

const LENGTH: &[u8] = b"          \r\n\r\n";
const DIGITS: usize = LENGTH.len() - 4;

const fn accepted(config: &Config, kind: Kind) -> &'static str {
    match (kind, config.results) {
        (Kind::Graph, _) => OF_GRAPHS,
        (Kind::Select, super::config::Results::Tsv) => OF_TABLES,
        (Kind::Select | Kind::Ask, _) => OF_ROWS,
        (Kind::Update, _) => "*/*",
    }
}

/// The fields that all requests have.
pub fn fields(config: &Config, accepted: &str) -> String {
    let place = config.place();
    let authorization = config.authorization.as_ref();
    let authorization =
        authorization.map_or(String::new(), |secret| format!("Authorization: {}\r\n", secret.0));
    format!(
        "Host: {place}\r\nUser-Agent: assay\r\nAccept: {accepted}\r\nAccept-Encoding: identity\r\n\
         {authorization}"
    )
}

/// Appends text as it may stand in an address.
fn write_encoded(text: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(*byte);
        } else {
            let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            out.extend_from_slice(&[b'%', digits[0], digits[1]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::connecting::Secret;

    fn config() -> Config {
        Config {
            host: "127.0.0.1".into(),
            port: 80,
            query: "/q?a=b".into(),
            update: Some("/u".into()),
            authorization: Some(Secret("Basic eDp5".into())),
            ..Config::default()
        }
    }

    fn written(config: &Config, text: &str) -> String {
        let mut out = b"before".to_vec();
        let values = |_| Some(Bound::Integer(1));
        Sent::read(config, text).unwrap().write(values, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_query_is_a_body_or_stands_in_the_address() {
        let posted = written(&config(), "ASK { <a${1}> ?p '\u{e9}' }");
        let (head, body) = posted.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "ASK { <a1> ?p '\u{e9}' }");
        let lines: Vec<&str> = head.split("\r\n").collect();
        assert_eq!(lines[0], "POST /q?a=b HTTP/1.1");
        for wanted in [
            "Host: 127.0.0.1:80",
            "Accept: application/sparql-results+json",
            "Authorization: Basic eDp5",
            "Content-Type: application/sparql-query",
        ] {
            assert!(lines.contains(&wanted), "{wanted}: {head}");
        }
        let length = lines.iter().find_map(|line| line.strip_prefix("Content-Length:")).unwrap();
        assert_eq!(length.trim().parse(), Ok(body.len()));
        let asked = written(&Config { method: Method::Get, ..config() }, "SELECT ?x {}");
        assert!(
            asked.starts_with("GET /q?a=b&query=SELECT%20%3Fx%20%7B%7D HTTP/1.1\r\n"),
            "{asked}"
        );
        assert!(asked.ends_with("\r\n\r\n"));
    }

    #[test]
    fn an_update_goes_to_its_own_place() {
        let config = Config { method: Method::Get, ..config() };
        let sent = written(&config, "CLEAR ALL");
        assert!(sent.starts_with("POST /u HTTP/1.1\r\n"));
        assert!(sent.contains("Content-Type: application/sparql-update\r\n"));
        let error = Sent::read(&Config { update: None, ..config }, "CLEAR ALL").unwrap_err();
        assert!(error.message.contains("no endpoint for updates"));
    }
}
