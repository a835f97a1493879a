//! The system calls. With `ring.rs` the only place of this crate that is not safe by construction.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use perf_event_open_sys as perf;

use super::Attr;
use super::attr::tracepoint;

/// One open event of the kernel. Dropping it ends it.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Opens an event, disabled.
    ///
    /// `pid` is a thread, or -1 for all of them, which the kernel does not grant to everybody.
    ///
    /// # Errors
    /// What the kernel says: EACCES and EPERM where it is not allowed, ESRCH where there is no such
    /// thread, ENOENT and EOPNOTSUPP where the machine has no such counter.
    pub fn open(attr: Attr, pid: i32, cpu: u32) -> io::Result<Self> {
        Self::open_sys(attr.to_sys(), pid, cpu)
    }

    /// Opens each passage of a tracepoint, of everything on a processor; disabled.
    ///
    /// # Errors
    /// As of `open`.
    pub fn open_tracepoint(id: u64, cpu: u32) -> io::Result<Self> {
        Self::open_sys(tracepoint(id), -1, cpu)
    }

    fn open_sys(
        mut wanted: perf::bindings::perf_event_attr,
        pid: i32,
        cpu: u32,
    ) -> io::Result<Self> {
        match Self::open_once(&mut wanted, pid, cpu) {
            // A kernel before Linux 6.0 does not count what an event lost.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                wanted.read_format = 0;
                Self::open_once(&mut wanted, pid, cpu)
            }
            opened => opened,
        }
    }

    fn open_once(
        wanted: &mut perf::bindings::perf_event_attr,
        pid: i32,
        cpu: u32,
    ) -> io::Result<Self> {
        let flags = libc::c_ulong::from(perf::bindings::PERF_FLAG_FD_CLOEXEC);
        // SAFETY: `wanted` is a whole attribute that outlives the call; the kernel writes at most
        // its own size into it.
        let fd = unsafe { perf::perf_event_open(wanted, pid, cpu as i32, -1, flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Starts it, and those that were inherited from it.
    pub fn enable(&self) -> io::Result<()> {
        // SAFETY: the descriptor is an event of ours; the argument is a plain number.
        outcome(unsafe { perf::ioctls::ENABLE(self.raw(), 0) })
    }

    /// Stops it, and those that were inherited from it.
    pub fn disable(&self) -> io::Result<()> {
        // SAFETY: as above.
        outcome(unsafe { perf::ioctls::DISABLE(self.raw(), 0) })
    }

    /// Has its records written into the ring of another event of the same processor.
    pub fn write_to(&self, other: &Self) -> io::Result<()> {
        // SAFETY: both descriptors are events of ours.
        outcome(unsafe { perf::ioctls::SET_OUTPUT(self.raw(), other.raw()) })
    }

    /// How many records found no room so far: its own, and those of the threads that inherited it.
    /// `None`: the kernel does not say.
    pub fn lost(&self) -> Option<u64> {
        // The event's count, and what it lost.
        let mut counts = [0; 16];
        let length = rustix::io::read(&self.0, &mut counts).ok()?;
        let lost = counts[8..].try_into().ok()?;
        (length == counts.len()).then(|| u64::from_ne_bytes(lost))
    }

    /// The descriptor, for poll(2) and mmap(2).
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn outcome(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits until one of the events has records, at most `timeout_ms`.
pub fn wait(events: &[RawFd], timeout_ms: i32) {
    let asked = |fd: &RawFd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
    let mut polled: Vec<libc::pollfd> = events.iter().map(asked).collect();
    // SAFETY: the array is ours and as long as is said. An error is as good as a timeout.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) };
    if let Some(others) = others_than_ended(&polled) {
        wait(&others, timeout_ms);
    }
}

/// What is left to wait for if nothing but the end of events woke us: the event of threads that
/// ended is always ready, and waiting for it would be a loop without rest.
fn others_than_ended(polled: &[libc::pollfd]) -> Option<Vec<RawFd>> {
    let is_ended = |one: &&libc::pollfd| one.revents & (libc::POLLHUP | libc::POLLERR) != 0;
    let has_records = polled.iter().any(|one| one.revents & libc::POLLIN != 0);
    if has_records || !polled.iter().any(|one| is_ended(&one)) {
        return None;
    }
    Some(polled.iter().filter(|one| !is_ended(one)).map(|one| one.fd).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_event_is_not_waited_for_again() {
        let polled = |revents: [i16; 2]| {
            [7, 8].into_iter().zip(revents).map(|(fd, revents)| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents,
            })
        };
        let left = |revents| others_than_ended(&polled(revents).collect::<Vec<_>>());
        assert_eq!(left([0, 0]), None);
        assert_eq!(left([libc::POLLIN, libc::POLLHUP]), None);
        assert_eq!(left([libc::POLLHUP, 0]), Some(vec![8]));
        assert_eq!(left([libc::POLLHUP, libc::POLLERR]), Some(vec![]));
    }
}
