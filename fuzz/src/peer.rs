//! The other end of a line, which says what an input holds and then no more.

use std::collections::VecDeque;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tempfile::TempDir;

/// Lines that stay open: a session that connects anew may still write to the last one.
const OPEN_LINES: usize = 8;

/// A server that says the same to whoever connects.
pub struct Peer {
    folder: TempDir,
    name: &'static str,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Peer {
    /// Listens at the socket `name` in a folder of its own.
    ///
    /// # Panics
    /// If the system has no room for another socket.
    pub fn listening(name: &'static str) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let listener =
            UnixListener::bind(folder.path().join(name)).expect("a socket can be made there");
        let said = Arc::new(Mutex::new(Vec::new()));
        let spoken = Arc::clone(&said);
        thread::spawn(move || {
            let mut open = VecDeque::new();
            for line in listener.incoming().flatten() {
                open.push_back(line);
                if open.len() > OPEN_LINES {
                    open.pop_front();
                }
                let bytes = spoken.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(line) = open.back() {
                    speak(line, &bytes);
                }
            }
        });
        Self { folder, name, said }
    }

    /// From now on says these bytes, then closes its direction of the line.
    pub fn say(&self, bytes: &[u8]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.clear();
        said.extend_from_slice(bytes);
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(self.name)
    }
}

/// A client that went away early hears the rest of it not at all.
fn speak(mut line: &UnixStream, bytes: &[u8]) {
    let _: std::io::Result<()> =
        line.write_all(bytes).and_then(|()| line.shutdown(Shutdown::Write));
}
