//! From an address to a line, whatever is spoken on it, and why there is none.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::sockopt::{
    Timeout, set_socket_keepalive, set_socket_timeout, set_tcp_keepcnt, set_tcp_keepidle,
    set_tcp_keepintvl, set_tcp_user_timeout,
};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::attempt::Attempt;
use super::stream::{Stream, time_left};

/// How long a wait is before it looks whether the attempt was given up.
const LOOK: Duration = Duration::from_millis(50);
/// A line that carries nothing for so long is probed: a host that lost its power, or a firewall that
/// forgot the line, would otherwise be waited for without end.
const PROBED_AFTER: Duration = Duration::from_secs(20);
/// The time between probes, and how many of them are not answered before the line is broken.
const PROBED_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 3;
/// Milliseconds after which bytes that the peer's host did not acknowledge end the connection.
const ACKNOWLEDGED_MS: u32 = 60_000;

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
    pub fn addresses(&self, attempt: &Attempt) -> io::Result<Vec<Address>> {
        Ok(match self {
            Self::Tcp(host, port) => {
                resolve(host, *port, attempt)?.into_iter().map(Address::Tcp).collect()
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
    /// Sessions do not support the server's certificate. Other clients may encrypt their connections, so
    /// a session does not go on without TLS unless the DSN asks for that.
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

/// The addresses of a host. Nothing ends the system's resolver, so it works on a thread of its own,
/// which an attempt that is given up leaves behind.
fn resolve(host: &str, port: u16, attempt: &Attempt) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![(ip, port).into()]);
    }
    let name = host.to_owned();
    let look_up = move || (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
    let (tell, resolved) = mpsc::channel();
    let here = look_up.clone();
    let work = move || {
        let _ = tell.send(look_up());
    };
    if thread::Builder::new().name("resolving".into()).spawn(work).is_err() {
        return here();
    }
    loop {
        attempt.check()?;
        match resolved.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the system's resolver panicked"));
            }
            Ok(addresses) => return addresses,
        }
    }
}

/// A line on this host whose reads and writes end by `deadline`.
pub fn dial_socket(path: &PathBuf, deadline: Instant, attempt: &Attempt) -> io::Result<Stream> {
    let address = SocketAddrUnix::new(path)?;
    let line = dial(AddressFamily::UNIX, &address, deadline, attempt)?;
    let stream = Stream::Unix(UnixStream::from(line));
    stream.limit(deadline)?;
    Ok(stream)
}

/// A line to the first address of a host that answers, and the time by which its server has to be
/// ready: each address has `timeout`.
pub fn dial_host(
    (host, port): (&str, u16),
    timeout: Duration,
    attempt: &Attempt,
) -> io::Result<(TcpStream, Instant)> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in resolve(host, port, attempt)? {
        let deadline = Instant::now() + timeout;
        match dial_address(&address, deadline, attempt) {
            Err(error) => last = error,
            Ok(line) => return Ok((line, deadline)),
        }
    }
    Err(last)
}

/// A line to one address, whose reads and writes end by `deadline`.
pub fn dial_address(
    address: &SocketAddr,
    deadline: Instant,
    attempt: &Attempt,
) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let line = TcpStream::from(dial(family, address, deadline, attempt)?);
    line.set_nodelay(true)?;
    probe_when_idle(&line)?;
    let left = Some(time_left(deadline)?);
    line.set_read_timeout(left)?;
    line.set_write_timeout(left)?;
    Ok(line)
}

/// Has the kernel find out within a minute that the peer's host is gone.
fn probe_when_idle(line: &TcpStream) -> io::Result<()> {
    set_socket_keepalive(line, true)?;
    set_tcp_keepidle(line, PROBED_AFTER)?;
    set_tcp_keepintvl(line, PROBED_EVERY)?;
    set_tcp_keepcnt(line, PROBES)?;
    set_tcp_user_timeout(line, ACKNOWLEDGED_MS)?;
    Ok(())
}

/// A socket that is connected. Its wait is cut into short ones, in each of which the same request to
/// connect is under way.
fn dial(
    family: AddressFamily,
    address: &impl SocketAddrArg,
    deadline: Instant,
    attempt: &Attempt,
) -> io::Result<OwnedFd> {
    let line = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    attempt.hold(&line)?;
    loop {
        let left = time_left(deadline)?;
        set_socket_timeout(&line, Timeout::Send, Some(left.min(LOOK)))?;
        match connect(&line, address) {
            Err(Errno::INTR | Errno::INPROGRESS | Errno::ALREADY | Errno::AGAIN) => {
                attempt.check()?;
            }
            ended => return Ok(ended.map(|()| line)?),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::unix::net::UnixListener;

    use rustix::net::{bind, getsockname, listen, socket, sockopt};

    use super::*;

    const LATE: Duration = Duration::from_millis(500);

    fn dial_address_within(address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        dial_address(&address, Instant::now() + timeout, &Attempt::default())
    }

    fn dial_socket_within(path: &PathBuf, timeout: Duration) -> io::Result<Stream> {
        dial_socket(path, Instant::now() + timeout, &Attempt::default())
    }

    /// Fills the queue of connections that a server has not accepted yet.
    fn filled<L>(dial: impl Fn(Duration) -> io::Result<L>) -> Vec<L> {
        let queued: Vec<L> = std::iter::from_fn(|| dial(LOOK).ok()).take(8).collect();
        assert!(queued.len() < 8, "the queue is longer than the limit given to listen");
        queued
    }

    /// A server that accepts its connections only after some time.
    fn late(accept: impl Fn() -> bool + Send + 'static) {
        thread::spawn(move || {
            thread::sleep(LATE);
            while accept() {}
        });
    }

    #[test]
    fn a_server_that_accepts_late_is_waited_for() {
        let listening = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&listening, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        listen(&listening, 0).unwrap();
        let address: SocketAddr = getsockname(&listening).unwrap().try_into().unwrap();
        let _queued = filled(|timeout| dial_address_within(address, timeout));
        let listener = TcpListener::from(listening);
        late(move || listener.accept().is_ok());
        dial_address_within(address, Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn a_socket_whose_server_accepts_late_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listening = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&listening, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&listening, 0).unwrap();
        let _queued = filled(|timeout| dial_socket_within(&path, timeout));
        let listener = UnixListener::from(listening);
        late(move || listener.accept().is_ok());
        dial_socket_within(&path, Duration::from_secs(60)).unwrap();
    }

    #[test]
    fn a_line_is_probed_while_its_peer_says_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = dial_address_within(listener.local_addr().unwrap(), LATE).unwrap();
        assert!(sockopt::socket_keepalive(&line).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&line).unwrap(), PROBED_AFTER);
        assert_eq!(sockopt::tcp_keepintvl(&line).unwrap(), PROBED_EVERY);
        assert_eq!(sockopt::tcp_keepcnt(&line).unwrap(), PROBES);
        assert_eq!(sockopt::tcp_user_timeout(&line).unwrap(), ACKNOWLEDGED_MS);
    }

    #[test]
    fn an_attempt_that_was_given_up_connects_to_nothing() {
        let attempt = Attempt::default();
        attempt.give_up();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        dial_address(&address, deadline, &attempt).unwrap_err();
        resolve("localhost", 1, &attempt).unwrap_err();
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
