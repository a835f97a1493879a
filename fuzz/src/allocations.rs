//! Counts the memory that a thread holds, so that a parser that takes too much of it is found.
#![allow(unsafe_code)] // An allocator is an unsafe trait; each call goes on to the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD_BYTES: Cell<isize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with a count of held bytes and their peak for each thread.
pub struct Counting;

fn note(bytes: isize) {
    let _ = HELD_BYTES.try_with(|held| {
        let now = held.get() + bytes;
        held.set(now);
        let _ = PEAK_BYTES.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

// SAFETY: every method hands its arguments to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller keeps the rules of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller keeps the rules of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller keeps the rules of `dealloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        note(bytes as isize - layout.size() as isize);
        // SAFETY: the caller keeps the rules of `realloc`.
        unsafe { System.realloc(place, layout, bytes) }
    }
}

/// Return the largest number of bytes that this thread held during a call, beside what it held before.
pub fn peak_bytes(call: impl FnOnce()) -> usize {
    let before = HELD_BYTES.get();
    PEAK_BYTES.set(before);
    call();
    usize::try_from(PEAK_BYTES.get() - before).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_counted_and_not_the_sum() {
        let peak = peak_bytes(|| {
            for _ in 0..3 {
                std::hint::black_box(vec![0_u8; 1 << 16]);
            }
        });
        assert!((1 << 16..1 << 17).contains(&peak), "{peak}");
    }
}
