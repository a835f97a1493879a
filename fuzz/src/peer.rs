//! The other end of a line, which says what an input holds and then no more.

use std::collections::VecDeque;
use std::io::{Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tempfile::TempDir;

/// Lines that stay open: a session that connects anew may still write to the last one.
const OPEN_LINES: usize = 8;

/// A server that says the same to whoever connects.
pub struct Peer {
    folder: TempDir,
    said: Arc<Mutex<Vec<u8>>>,
}

/// The other end of a connection.
trait Line: Write + Send + 'static {
    fn end(&self) -> Result<()>;
}

impl Line for UnixStream {
    fn end(&self) -> Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Line for TcpStream {
    fn end(&self) -> Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl Peer {
    /// Listens at the socket `name` in a folder of its own.
    ///
    /// # Panics
    /// If the system has no room for another socket.
    pub fn at_socket(name: &str) -> Self {
        let peer = Self::new();
        let listener =
            UnixListener::bind(peer.folder().join(name)).expect("a socket can be made there");
        peer.answer(move || listener.accept().map(|(line, _)| line));
        peer
    }

    /// Listens at a free port of 127.0.0.1, which is returned too.
    ///
    /// # Panics
    /// If the system has no free port.
    pub fn at_port() -> (Self, u16) {
        let peer = Self::new();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        peer.answer(move || listener.accept().map(|(line, _)| line));
        (peer, port)
    }

    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        Self { folder, said: Arc::default() }
    }

    fn answer<L: Line>(&self, accepted: impl Fn() -> Result<L> + Send + 'static) {
        let said = Arc::clone(&self.said);
        thread::spawn(move || {
            let mut open = VecDeque::new();
            while let Ok(mut line) = accepted() {
                let bytes = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // A client that went away early hears the rest of it not at all.
                let _: Result<()> = line.write_all(&bytes).and_then(|()| line.end());
                open.push_back(line);
                if open.len() > OPEN_LINES {
                    open.pop_front();
                }
            }
        });
    }

    /// From now on says these bytes, then closes its direction of the line.
    pub fn say(&self, bytes: &[u8]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.clear();
        said.extend_from_slice(bytes);
    }

    /// The folder of its own.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A line whose other end has said these bytes and no more. The other end has to be kept while it is read.
///
/// # Panics
/// If the system has no room for another pair of sockets, or for the bytes.
pub fn said(bytes: &[u8]) -> (TcpStream, UnixStream) {
    let (near, mut far) = UnixStream::pair().expect("a pair of sockets can be made");
    far.write_all(bytes).and_then(|()| far.end()).expect("a socket holds some kilobytes");
    (TcpStream::from(OwnedFd::from(near)), far)
}
