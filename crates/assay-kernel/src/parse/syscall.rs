//! `/proc/<pid>/task/<tid>/syscall`: the call of the kernel that a task sleeps in.

use std::path::Path;

use crate::KernelError;
use crate::text::{Line, words};

/// Calls whose first argument is the address that is waited at.
const WAITS_AT_ADDRESS: [i64; 2] = [libc::SYS_futex, FUTEX_WAIT];
/// `futex_wait`, of Linux 6.7; a number that all processors share.
const FUTEX_WAIT: i64 = 455;

/// What a task that sleeps asked the kernel for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Number of the call on this processor; -1: none, the task sleeps in a page fault.
    pub number: i64,
    /// The word of memory that a futex call waits at.
    pub address: Option<u64>,
}

impl SystemCall {
    /// Reads the text of one syscall file; `None`: the task runs.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Option<Self>, KernelError> {
        let line = Line { path, text };
        let mut fields = words(text);
        let number = match fields.next() {
            None | Some(b"running") => return Ok(None),
            Some(b"-1") => return Ok(Some(Self { number: -1, address: None })),
            word => line.scaled("number of the call", word, 1)? as i64,
        };
        let address = match fields.next() {
            word if WAITS_AT_ADDRESS.contains(&number) => Some(line.hexadecimal("address", word)?),
            _ => None,
        };
        Ok(Some(Self { number, address }))
    }
}
