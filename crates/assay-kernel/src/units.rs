//! The units in which the kernel prints its counters.

const SECOND_NS: u64 = 1_000_000_000;

/// How long a tick is and how large a page is on the host whose counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// Length of one tick of CPU time (`1 / CLK_TCK`).
    pub tick_ns: u64,
    /// Size of a page of memory.
    pub page_bytes: u64,
}

impl Units {
    /// The units of this host, as the kernel handed them to this process.
    pub fn of_host() -> Self {
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        let page_bytes = rustix::param::page_size() as u64;
        Self { tick_ns: SECOND_NS / ticks_per_s, page_bytes }
    }
}
