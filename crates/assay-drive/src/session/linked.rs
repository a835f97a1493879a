//! The link that a session has to its server: connecting, sending, reading and interrupting are the
//! same in all protocols.
//!
//! An operation that meets a lost connection fails; the next one connects anew, once.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::attempt::Attempt;
use super::inbox::Framing;
use super::interrupt::{Interrupt, Means};
use super::line::{Line, LineError, Output};
use super::{Canceller, SessionError, SharedSession, Step};

/// A link to a server, of any protocol.
pub trait Link {
    /// Whether reads and writes return at once.
    fn set_nonblocking(&mut self, nonblocking: bool) -> Result<(), SessionError>;

    /// The descriptor that an epoll can watch.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// The error of a session whose link is gone.
    fn lost() -> SessionError;
}

/// A link whose protocol consists of messages.
pub trait MessageLink {
    /// The buffer that requests are encoded into.
    type Out: Output;
    /// Cuts the bytes that come into messages.
    type Framing: Framing;

    /// Its line.
    fn line(&self) -> &Line<Self::Out, Self::Framing>;

    /// Its line, to be changed.
    fn line_mut(&mut self) -> &mut Line<Self::Out, Self::Framing>;

    /// The error of a line that is of no more use.
    fn failed(error: LineError) -> SessionError;

    /// The error that the server sent before it closed the line, if it sent one.
    fn last_words(&mut self) -> Option<SessionError> {
        None
    }

    /// Sends what waits; false if the system takes no more now.
    fn flush(&mut self) -> Result<bool, SessionError> {
        self.line_mut().flush().map_err(Self::failed)
    }

    /// Reads once; false if there is nothing now.
    fn read(&mut self) -> Result<bool, SessionError> {
        self.line_mut().read().map_err(Self::failed)
    }
}

impl<L: MessageLink> Link for L {
    fn set_nonblocking(&mut self, nonblocking: bool) -> Result<(), SessionError> {
        self.line().set_nonblocking(nonblocking).map_err(L::failed)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.line().descriptor()
    }

    fn lost() -> SessionError {
        L::failed(LineError::Lost)
    }
}

/// The link of a session, while there is one.
pub struct Linked<L> {
    /// The link; `None`: the next operation connects anew.
    pub link: Option<L>,
    /// The error of the operation under way, which is told once its answer was read to its end.
    pub error: Option<SessionError>,
    connections: u32,
    interrupt: Arc<Interrupt>,
    shares: bool,
}

impl<L> Default for Linked<L> {
    fn default() -> Self {
        Self { link: None, error: None, connections: 0, interrupt: Arc::default(), shares: false }
    }
}

impl<L: Link> Linked<L> {
    /// The link.
    pub fn link(&self) -> Result<&L, SessionError> {
        self.link.as_ref().ok_or_else(L::lost)
    }

    /// The link, to be changed.
    pub fn link_mut(&mut self) -> Result<&mut L, SessionError> {
        self.link.as_mut().ok_or_else(L::lost)
    }

    /// Makes a new link by `open`, which returns it with what interrupts it and what else the session
    /// keeps. An operation that is interrupted ends the attempt, too.
    pub fn connect<T>(
        &mut self,
        open: impl FnOnce(&Attempt) -> Result<(L, Option<Means>, T), SessionError>,
    ) -> Result<T, SessionError> {
        let attempt = Attempt::default();
        self.interrupt.connecting(&attempt);
        let (mut link, means, kept) = open(&attempt).map_err(|error| {
            self.interrupt.lost();
            if attempt.is_given_up() { SessionError::given_up() } else { error }
        })?;
        self.interrupt.connected(means);
        link.set_nonblocking(self.shares)?;
        self.link = Some(link);
        self.connections += 1;
        Ok(kept)
    }

    /// Drops the link.
    pub fn disconnect(&mut self) {
        self.link = None;
        self.interrupt.lost();
    }

    /// An operation begins.
    pub fn begin(&mut self) {
        self.interrupt.begin();
        self.error = None;
    }

    /// Ends what is executed over the link, from another thread.
    pub fn canceller(&self) -> Canceller {
        let interrupt = Arc::clone(&self.interrupt);
        Box::new(move || interrupt.ask())
    }

    /// Ends the operation whose answer was read to its end: with its error, if it has one.
    pub fn ended(&mut self) -> Result<Step, SessionError> {
        self.error.take().map_or(Ok(Step::Ended), Err)
    }
}

impl<L: MessageLink> Linked<L> {
    /// An error of the link ends it. What the server said before it went says more.
    pub fn checked<T>(&mut self, result: Result<T, SessionError>) -> Result<T, SessionError> {
        result.map_err(|error| {
            self.disconnect();
            self.error.take().unwrap_or(error)
        })
    }

    /// The time of an operation has ended: gives room back that none has needed for long.
    pub fn settle(&mut self) {
        if let Some(link) = &mut self.link {
            link.line_mut().inbox.settle();
        }
    }

    /// Sends what waits.
    pub fn flush(&mut self) -> Result<Step, SessionError> {
        let link = self.link_mut()?;
        let sent = link.flush();
        if sent.is_err() {
            // What the server said before it went says more than a broken pipe.
            let reason = link.last_words();
            self.error = self.error.take().or(reason);
        }
        Ok(if self.checked(sent)? { Step::Reads } else { Step::Writes })
    }

    fn is_all_sent(&self) -> Result<bool, SessionError> {
        Ok(self.link()?.line().out.is_empty())
    }
}

/// A session over a link.
pub trait LinkedSession {
    /// Its link.
    type Link: Link;

    /// Its link, while there is one.
    fn linked(&self) -> &Linked<Self::Link>;

    /// Its link, to be changed.
    fn linked_mut(&mut self) -> &mut Linked<Self::Link>;

    /// Begins an operation.
    fn start(&mut self, operation: u16) -> Result<Step, SessionError>;

    /// Goes on, after the connection became ready.
    fn go_on(&mut self) -> Result<Step, SessionError>;

    /// Goes on over a new connection, after a step was `Connects`.
    fn go_on_anew(&mut self) -> Result<Step, SessionError> {
        Err(Self::Link::lost())
    }
}

impl<S: LinkedSession> SharedSession for S {
    fn share(&mut self) -> Result<(), SessionError> {
        let linked = self.linked_mut();
        linked.shares = true;
        linked.link_mut()?.set_nonblocking(true)
    }

    fn connection(&self) -> Option<(BorrowedFd<'_>, u32)> {
        let linked = self.linked();
        Some((linked.link.as_ref()?.descriptor(), linked.connections))
    }

    fn begin(&mut self, operation: u16) -> Result<Step, SessionError> {
        self.start(operation)
    }

    fn advance(&mut self) -> Result<Step, SessionError> {
        self.go_on()
    }

    fn reconnect(&mut self) -> Result<Step, SessionError> {
        self.go_on_anew()
    }
}

/// Sends what waits and has `parse` handle all messages that are there, until the operation has
/// ended or the line is to be waited for.
pub fn exchange<S: LinkedSession>(
    session: &mut S,
    parse: impl Fn(&mut S) -> Result<Step, SessionError>,
) -> Result<Step, SessionError>
where
    S::Link: MessageLink,
{
    let linked = session.linked_mut();
    if !linked.is_all_sent()? && linked.flush()? == Step::Writes {
        return Ok(Step::Writes);
    }
    loop {
        let step = parse(session)?;
        if step != Step::Reads {
            return Ok(step);
        }
        let linked = session.linked_mut();
        if !linked.is_all_sent()? {
            return Ok(Step::Writes);
        }
        let read = linked.link_mut()?.read();
        if !linked.checked(read)? {
            return Ok(Step::Reads);
        }
        // Bytes may have been decrypted that no read has taken yet: no epoll tells of those.
        if linked.shares && !linked.link()?.line().stream.has_buffered() {
            return parse(session);
        }
    }
}

/// Returns a function that closes a line from another thread; the line may be closed already.
pub fn closer(line: impl AsFd) -> Option<impl Fn() + Send + Clone + 'static> {
    let line: Arc<OwnedFd> = Arc::new(line.as_fd().try_clone_to_owned().ok()?);
    Some(move || {
        let _: rustix::io::Result<()> = rustix::net::shutdown(&*line, rustix::net::Shutdown::Both);
    })
}
