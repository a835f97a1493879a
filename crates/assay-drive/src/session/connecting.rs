//! From an address to a line, whatever is spoken on it, and why there is none.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::stream::Stream;

/// One place where a server may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A host or address and a port.
    Tcp(String, u16),
    /// The socket's file.
    Unix(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) => write!(out, "{host}:{port}"),
            Self::Unix(path) => write!(out, "{}", path.display()),
        }
    }
}

impl Place {
    /// The addresses of the place, in the order in which the system's resolver has them.
    pub fn addresses(&self) -> io::Result<Vec<Address>> {
        Ok(match self {
            Self::Tcp(host, port) => {
                (host.as_str(), *port).to_socket_addrs()?.map(Address::Tcp).collect()
            }
            Self::Unix(path) => vec![Address::Unix(path.clone())],
        })
    }
}

/// One address of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address of the network and a port.
    Tcp(SocketAddr),
    /// The socket's file.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "{address}"),
            Self::Unix(path) => write!(out, "{}", path.display()),
        }
    }
}

/// How far TLS goes, in libpq's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the server wants it; whoever the server is.
    Allow,
    /// If the server has it; whoever the server is.
    #[default]
    Prefer,
    /// Always; whoever the server is.
    Require,
    /// Always; the certificate is from an authority that is trusted.
    VerifyCa,
    /// And it names the host.
    VerifyFull,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// Why there is no connection. No text shows the password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody answers there.
    #[error("no server at {place}: {reason}; is it running, and is the address right?")]
    Refused {
        /// Where.
        place: String,
        /// The operating system's error text.
        reason: String,
    },
    /// A line was there, and ended before the server was ready.
    #[error("the server at {place} ended the connection before it was ready: {reason}")]
    Lost {
        /// Where.
        place: String,
        /// The operating system's error text.
        reason: String,
    },
    /// The server is not one of those that were asked for.
    #[error("the server at {place} is not what target_session_attrs asks for: {reason}")]
    Unsuited {
        /// Where.
        place: String,
        /// The state of the server, and the state that was required.
        reason: String,
    },
    /// No server of a list can be used.
    #[error("none of the {count} servers can be used: {reasons}")]
    Nowhere {
        /// How many servers the list has.
        count: usize,
        /// Why each of them cannot.
        reasons: String,
    },
    /// It took too long.
    #[error(
        "the server at {place} did not answer within {seconds} s; connect_timeout=N waits longer"
    )]
    Timeout {
        /// Where.
        place: String,
        /// How long.
        seconds: u64,
    },
    /// The line could not be encrypted.
    #[error("TLS with {place}: {reason}")]
    Tls {
        /// Where.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The server has TLS, by a certificate that sessions cannot take: another client may encrypt the
    /// same line, so it is not used in the clear without being asked for.
    #[error("TLS with {place}: {reason}; sslmode=disable goes without TLS")]
    Certificate {
        /// Where.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The server said no.
    #[error("the server at {place} refuses: {message}{mend}")]
    Server {
        /// Where.
        place: String,
        /// SQLSTATE.
        code: String,
        /// In its words.
        message: String,
        /// What to do.
        mend: &'static str,
    },
    /// It asks for a proof that is not to be had.
    #[error("the server at {place} asks for {what}")]
    Proof {
        /// Where.
        place: String,
        /// What.
        what: String,
    },
    /// What came was not the protocol.
    #[error("what answers at {place} does not speak {product}'s protocol: {reason}")]
    Protocol {
        /// Where.
        place: String,
        /// Whose protocol it is.
        product: &'static str,
        /// What came.
        reason: String,
    },
}

impl ConnectError {
    /// The class that failed operations are counted by: an SQLSTATE.
    pub fn class(&self) -> &str {
        match self {
            Self::Server { code, .. } => code,
            Self::Proof { .. } => "28000",
            Self::Refused { .. }
            | Self::Lost { .. }
            | Self::Unsuited { .. }
            | Self::Nowhere { .. }
            | Self::Timeout { .. }
            | Self::Tls { .. }
            | Self::Certificate { .. } => "08001",
            Self::Protocol { .. } => "08P01",
        }
    }

    /// Whether another server of a list may take the connection that this one does not take.
    pub const fn leads_on(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Lost { .. } | Self::Timeout { .. })
    }

    /// One error for all `count` servers of a list that were tried.
    pub fn of_all(count: usize, mut errors: Vec<Self>) -> Self {
        match (errors.len(), errors.pop()) {
            (_, None) => Self::Refused {
                place: "nowhere".into(),
                reason: "no host was named, or its name has no address".into(),
            },
            (1, Some(error)) => error,
            (_, Some(last)) => {
                errors.push(last);
                let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Self::Nowhere { count, reasons: reasons.join("; ") }
            }
        }
    }

    /// What a line that broke means to whoever waited so long for a server.
    pub fn unreached(place: &impl fmt::Display, timeout: Duration, error: &io::Error) -> Self {
        if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) {
            return Self::Timeout { place: place.to_string(), seconds: timeout.as_secs() };
        }
        Self::Refused { place: place.to_string(), reason: error.to_string() }
    }
}

/// A line on this host whose reads and writes block no longer than `timeout`.
pub fn dial_socket(path: &PathBuf, timeout: Duration) -> io::Result<Stream> {
    let stream = Stream::Unix(UnixStream::connect(path)?);
    stream.set_timeout(Some(timeout))?;
    Ok(stream)
}

/// A line to the first address of a host that answers; reads and writes block no longer than
/// `timeout`.
pub fn dial_host(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match dial_address(&address, timeout) {
            Err(error) => last = error,
            line => return line,
        }
    }
    Err(last)
}

/// A line to one address; reads and writes block no longer than `timeout`.
pub fn dial_address(address: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let line = TcpStream::connect_timeout(address, timeout)?;
    line.set_nodelay(true)?;
    line.set_read_timeout(Some(timeout))?;
    line.set_write_timeout(Some(timeout))?;
    Ok(line)
}

/// Whether only the server that is meant can read what is sent: it is on this host, or it has
/// proved over TLS who it is.
pub fn is_private(stream: &Stream, is_verified: bool) -> bool {
    match stream {
        Stream::Unix(_) => true,
        Stream::Tls(line) => is_verified || is_loopback(&line.sock),
        Stream::Tcp(line) => is_loopback(line),
    }
}

fn is_loopback(line: &TcpStream) -> bool {
    line.peer_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback())
}
