//! The units in which the kernel prints its counters.

use nix::unistd::{SysconfVar, sysconf};

use crate::ObserveError;

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
    /// The units of this host.
    pub fn of_host() -> Result<Self, ObserveError> {
        let ticks_per_s = ask(SysconfVar::CLK_TCK, "CLK_TCK")?;
        let page_bytes = ask(SysconfVar::PAGE_SIZE, "PAGE_SIZE")?;
        Ok(Self { tick_ns: SECOND_NS / ticks_per_s, page_bytes })
    }
}

fn ask(variable: SysconfVar, name: &'static str) -> Result<u64, ObserveError> {
    match sysconf(variable) {
        Ok(Some(value)) if value > 0 => Ok(value as u64),
        _ => Err(ObserveError::Unit(name)),
    }
}
