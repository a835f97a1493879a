//! The memory that the kernel writes the records of one processor into.
#![allow(unsafe_code, clippy::cast_ptr_alignment)]

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::Event;

/// A ring over the event that it belongs to.
///
/// Positions only grow; a position modulo the size is a place in the ring. Between `tail` and
/// `head` the memory is ours: the kernel writes there only after `release`.
pub struct Ring {
    event: Event,
    base: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
}

// SAFETY: the mapping belongs to this value alone and is not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `data_bytes`, a power of two of pages.
    ///
    /// # Errors
    /// What the kernel says: EPERM where the user may not lock so much memory.
    pub fn map(event: Event, data_bytes: usize) -> io::Result<Self> {
        // SAFETY: sysconf only reads.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let base = map(&event, page_bytes + data_bytes)?;
        Ok(Self { event, base, page_bytes, data_bytes })
    }

    /// The event that the ring belongs to.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Where the kernel writes next.
    pub fn head(&self) -> u64 {
        // SAFETY: the first page is the kernel's control page for as long as `self` lives. The
        // kernel publishes records with a release store of the head.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.control()).data_head).load(Ordering::Acquire) }
    }

    /// Where reading begins.
    pub fn tail(&self) -> u64 {
        // SAFETY: as above; only we write the tail.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.control()).data_tail).load(Ordering::Relaxed) }
    }

    /// Gives everything before `position` back to the kernel.
    pub fn release(&mut self, position: u64) {
        // SAFETY: as above; `&mut` ends all borrows of what is given back.
        unsafe {
            AtomicU64::from_ptr(&raw mut (*self.control()).data_tail)
                .store(position, Ordering::Release);
        }
    }

    /// Eight bytes at a position, which is a multiple of eight, before the head.
    pub fn word(&self, position: u64) -> u64 {
        let place = position as usize & (self.data_bytes - 1) & !7;
        // SAFETY: the place is within the data and aligned; the ring's size is a multiple of eight.
        unsafe { self.data().add(place).cast::<u64>().read() }
    }

    /// Bytes from a position on; into `scratch` where they go over the ring's end.
    pub fn bytes<'a>(&'a self, position: u64, length: usize, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let length = length.min(self.data_bytes);
        let place = position as usize & (self.data_bytes - 1);
        let first = length.min(self.data_bytes - place);
        // SAFETY: both parts are within the mapping, initialised, and between tail and head, where
        // nobody writes while `self` is borrowed.
        let (first, rest) = unsafe {
            (
                std::slice::from_raw_parts(self.data().add(place), first),
                std::slice::from_raw_parts(self.data(), length - first),
            )
        };
        if rest.is_empty() {
            return first;
        }
        scratch.clear();
        scratch.extend_from_slice(first);
        scratch.extend_from_slice(rest);
        scratch
    }

    fn control(&self) -> *mut perf_event_mmap_page {
        self.base.as_ptr().cast()
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: the data follow the control page in the same mapping.
        unsafe { self.base.as_ptr().add(self.page_bytes) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and of this length; nothing borrows it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.page_bytes + self.data_bytes) };
    }
}

fn map(event: &Event, length: usize) -> io::Result<NonNull<u8>> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new shared mapping of an event's descriptor at a place that the kernel chooses.
    let base = unsafe {
        libc::mmap(std::ptr::null_mut(), length, rights, libc::MAP_SHARED, event.raw(), 0)
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::Error::other("a mapping at address zero"))
}
