//! The line to a server: TCP, a Unix socket, or TLS over TCP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::{ClientConnection, StreamOwned};

/// A connected line.
#[derive(Debug)]
pub enum Stream {
    /// In the clear.
    Tcp(TcpStream),
    /// On this host.
    Unix(UnixStream),
    /// Encrypted.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Whether reads and writes return at once.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.sock.set_nonblocking(nonblocking),
        }
    }

    /// How long one read or write may block; `None`: for ever.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
            Self::Tls(stream) => {
                stream.sock.set_read_timeout(timeout)?;
                stream.sock.set_write_timeout(timeout)
            }
        }
    }

    /// Has each read and write until the next call end by `deadline`.
    pub fn limit(&self, deadline: Instant) -> io::Result<()> {
        self.set_timeout(Some(time_left(deadline)?))
    }

    /// Whether bytes may wait here that were read from the line already: no epoll tells of those.
    pub const fn has_buffered(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

/// The time until `deadline`; an error if it has passed.
pub fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Lines in the clear are read and written without the C library, whose calls are points of
/// cancellation, which costs a process of several threads two atomic writes each.
impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => Ok(recv(stream, bytes, RecvFlags::empty())?.0),
            Self::Unix(stream) => Ok(recv(stream, bytes, RecvFlags::empty())?.0),
            Self::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => Ok(send(stream, bytes, SendFlags::NOSIGNAL)?),
            Self::Unix(stream) => Ok(send(stream, bytes, SendFlags::NOSIGNAL)?),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.sock.as_fd(),
        }
    }
}
