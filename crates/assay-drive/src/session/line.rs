//! The line to a server: requests that wait to be sent, the receiving buffer, and the stream.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use bytes::BytesMut;

use super::inbox::{Framing, Inbox};
use super::stream::Stream;

/// Bytes that requests are encoded into.
pub trait Output: AsRef<[u8]> {
    /// Forgets the bytes; the memory stays.
    fn clear(&mut self);
}

impl Output for Vec<u8> {
    fn clear(&mut self) {
        Self::clear(self);
    }
}

impl Output for BytesMut {
    fn clear(&mut self) {
        Self::clear(self);
    }
}

/// Requests that wait to be sent.
#[derive(Debug)]
pub struct Outbox<B> {
    /// The requests, those already sent in part included.
    pub bytes: B,
    sent: usize,
}

/// The reason why a line cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The server closed it.
    #[error("the server closed the connection")]
    Closed,
    /// It was closed or broke before.
    #[error("the server closed the connection")]
    Lost,
    /// It broke.
    #[error(transparent)]
    Broken(#[from] io::Error),
}

/// The result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The end of the line.
    End,
}

/// Reads once.
pub fn receive(stream: &mut impl Read, room: &mut [u8]) -> io::Result<Received> {
    loop {
        match stream.read(room) {
            Ok(0) => return Ok(Received::End),
            Ok(count) => return Ok(Received::Bytes(count)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Received::Nothing),
            Err(error) => return Err(error),
        }
    }
}

impl<B: Output> Outbox<B> {
    /// An outbox whose requests are encoded into `bytes`.
    pub const fn new(bytes: B) -> Self {
        Self { bytes, sent: 0 }
    }

    /// Sends what waits; false if the system takes no more now.
    pub fn send(&mut self, stream: &mut impl Write) -> Result<bool, LineError> {
        while let Some(unsent) = self.bytes.as_ref().get(self.sent..).filter(|b| !b.is_empty()) {
            match stream.write(unsent) {
                Ok(0) => return Err(LineError::Closed),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        match stream.flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            flushed => flushed?,
        }
        self.clear();
        Ok(true)
    }

    /// Whether nothing waits to be sent.
    pub fn is_empty(&self) -> bool {
        self.bytes.as_ref().is_empty()
    }

    /// How many bytes wait to be sent.
    pub fn unsent(&self) -> usize {
        self.bytes.as_ref().len() - self.sent
    }

    /// Drops all requests: half of one would be taken for another one.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }
}

/// One line of a protocol that consists of messages.
#[derive(Debug)]
pub struct Line<B, F: Framing> {
    /// To the server.
    pub stream: Stream,
    /// Requests that wait to be sent.
    pub out: Outbox<B>,
    /// Messages that came in.
    pub inbox: Inbox<F>,
    /// When the server has to be ready for the first operation; `None`: it is, and each request has
    /// the time that it takes.
    pub deadline: Option<Instant>,
}

impl<B: Output, F: Framing> Line<B, F> {
    /// A line whose requests are encoded into `bytes`.
    pub fn new(stream: Stream, bytes: B) -> Self {
        Self { stream, out: Outbox::new(bytes), inbox: Inbox::default(), deadline: None }
    }

    /// Sends what waits; false if the system takes no more now.
    pub fn flush(&mut self) -> Result<bool, LineError> {
        self.out.send(&mut self.stream)
    }

    /// Reads once; false if there is nothing now.
    pub fn read(&mut self) -> Result<bool, LineError> {
        if let Some(deadline) = self.deadline {
            self.stream.limit(deadline)?;
        }
        match receive(&mut self.stream, self.inbox.room())? {
            Received::Bytes(count) => self.inbox.received(count),
            Received::Nothing => return Ok(false),
            Received::End => return Err(LineError::Closed),
        }
        Ok(true)
    }

    /// Whether reads and writes return at once.
    pub fn set_nonblocking(&self, nonblocking: bool) -> Result<(), LineError> {
        Ok(self.stream.set_nonblocking(nonblocking)?)
    }

    /// The descriptor that an epoll can watch.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes at a time, and every other time none.
    struct Narrow {
        taken: Vec<u8>,
        width: usize,
        blocks: bool,
    }

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.blocks = !self.blocks;
            if self.blocks {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = self.width.min(bytes.len());
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_the_system_does_not_take_is_sent_later() {
        let mut out = Outbox::new(b"a request".to_vec());
        let mut narrow = Narrow { taken: Vec::new(), width: 4, blocks: false };
        let mut rounds = 0;
        while !out.send(&mut narrow).unwrap() {
            rounds += 1;
            assert_eq!(out.unsent(), 9 - narrow.taken.len());
        }
        assert_eq!((narrow.taken.as_slice(), rounds), (b"a request".as_slice(), 3));
        assert!(out.is_empty());
    }

    #[test]
    fn a_read_finds_bytes_nothing_or_the_end() {
        let mut room = [0; 4];
        assert_eq!(receive(&mut b"ab".as_slice(), &mut room).unwrap(), Received::Bytes(2));
        assert_eq!(receive(&mut io::empty(), &mut room).unwrap(), Received::End);
    }
}
