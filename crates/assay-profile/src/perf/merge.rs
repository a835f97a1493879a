//! The rings of all processors, read in the order of time: code that one processor mapped is known
//! before a sample of another one lies in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;

use super::record::{Record, parse};
use super::{Event, Ring, sys};

const HEADER_BYTES: u64 = 8;
/// Where the time of a sample is, from its begin: after its address, process and thread.
const SAMPLE_TIME_OFFSET: u64 = HEADER_BYTES + 16;
/// And of any other record, from its end: before the processor.
const OTHER_TIME_OFFSET: u64 = 16;

/// One ring a processor.
pub struct Rings {
    all: Vec<Ring>,
    copies: bool,
    scratch: Vec<u8>,
}

/// The record that is next in one ring: its time, and which ring.
type Next = Reverse<(i64, usize)>;

impl Rings {
    /// Over rings, one a processor. `copies`: whether samples hold registers and stacks.
    pub fn new(all: Vec<Ring>, copies: bool) -> Self {
        Self { all, copies, scratch: Vec::new() }
    }

    /// The events that the rings belong to.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.all.iter().map(Ring::event)
    }

    /// Waits until a ring fills, at most `timeout_ms`.
    pub fn wait(&self, timeout_ms: i32) {
        let events: Vec<_> = self.events().map(Event::raw).collect();
        sys::wait(&events, timeout_ms);
    }

    /// Hands on all records up to `horizon_ns`, oldest first, and gives their room back.
    pub fn drain(&mut self, horizon_ns: i64, mut hand: impl FnMut(Record<'_>)) {
        let heads: Vec<u64> = self.all.iter().map(Ring::head).collect();
        let mut next: BinaryHeap<Next> = BinaryHeap::new();
        for (index, ring) in self.all.iter().enumerate() {
            next.extend(due(ring, heads[index], horizon_ns).map(|time| Reverse((time, index))));
        }
        while let Some(Reverse((_, index))) = next.pop() {
            let ring = &mut self.all[index];
            let position = ring.tail();
            let length = length_at(ring, position);
            let bytes = ring.bytes(position, length as usize, &mut self.scratch);
            hand(parse(bytes, self.copies));
            ring.release(position + length);
            next.extend(due(ring, heads[index], horizon_ns).map(|time| Reverse((time, index))));
        }
    }
}

/// Length of the record at a position; never 0, so that reading goes on whatever is there.
fn length_at(ring: &Ring, position: u64) -> u64 {
    (ring.word(position) >> 48).max(HEADER_BYTES)
}

/// When the next record of a ring was made, if it is there and due.
fn due(ring: &Ring, head: u64, horizon_ns: i64) -> Option<i64> {
    let position = ring.tail();
    if position >= head {
        return None;
    }
    let kind = ring.word(position) as u32;
    let place = if kind == PERF_RECORD_SAMPLE {
        position + SAMPLE_TIME_OFFSET
    } else {
        (position + length_at(ring, position)).wrapping_sub(OTHER_TIME_OFFSET)
    };
    let time_ns = ring.word(place) as i64;
    (time_ns <= horizon_ns).then_some(time_ns)
}
