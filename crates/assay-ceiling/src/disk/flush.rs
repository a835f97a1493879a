//! What a commit waits for: a small write through the page cache, and its way to the device.

use std::os::unix::fs::FileExt;
use std::time::Instant;

use super::buffer::AlignedBuffer;
use super::offsets::Offsets;
use super::{Counted, DiskTrial, Latencies, Operation, TrialFile, deadline};
use crate::CeilingError;
use crate::usage::Usage;

pub fn play(file: &TrialFile, trial: &DiskTrial, seed: u64) -> Result<Counted, CeilingError> {
    let offsets = Offsets::new(trial.pattern, trial.size_bytes, file.size_bytes(), seed);
    let buffer = AlignedBuffer::random(trial.size_bytes as usize, seed);
    let mut latencies = Latencies::new()?;
    let before = Usage::of_thread();
    let begun = Instant::now();
    let deadline = deadline(begun, trial);
    let mut ended = begun;
    while ended < deadline {
        let written = file.buffered().write_all_at(&buffer, offsets.draw());
        written.map_err(|source| file.refused("a write was refused", source))?;
        match trial.operation {
            Operation::Fdatasync => file.buffered().sync_data(),
            _ => file.buffered().sync_all(),
        }
        .map_err(|source| file.refused("a flush was refused", source))?;
        let now = Instant::now();
        latencies.record(now - ended);
        ended = now;
    }
    let usage = Usage::of_thread().since(before);
    Ok(Counted { latencies, outside: 0, elapsed: ended - begun, usage, registered: None })
}
