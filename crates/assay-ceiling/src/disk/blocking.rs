//! Requests by pread(2) and pwrite(2): one at a time, or as many threads as are to be under way.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::buffer::AlignedBuffer;
use super::offsets::Offsets;
use super::{Cache, Counted, DiskTrial, Latencies, Operation, TrialFile, deadline};
use crate::CeilingError;
use crate::usage::Usage;

/// What one thread did.
struct Share {
    latencies: Latencies,
    usage: Usage,
    begun: Instant,
    ended: Instant,
}

pub fn play(file: &TrialFile, trial: &DiskTrial, seed: u64) -> Result<Counted, CeilingError> {
    let offsets = Offsets::new(trial.pattern, trial.size_bytes, file.size_bytes(), seed);
    let gate = Barrier::new(trial.depth as usize);
    let shares = if trial.depth == 1 {
        vec![share(file, trial, &offsets, &gate, seed)?]
    } else {
        thread::scope(|scope| {
            let work = |number| {
                let (offsets, gate) = (&offsets, &gate);
                scope.spawn(move || share(file, trial, offsets, gate, seed ^ u64::from(number)))
            };
            let threads: Vec<_> = (0..trial.depth).map(work).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| CeilingError::Panicked)?)
                .collect::<Result<Vec<_>, _>>()
        })?
    };
    together(&shares)
}

fn together(shares: &[Share]) -> Result<Counted, CeilingError> {
    let mut latencies = Latencies::new()?;
    let mut usage = Usage::default();
    for share in shares {
        latencies.add(&share.latencies)?;
        usage = usage.and(share.usage);
    }
    let begun = shares.iter().map(|share| share.begun).min();
    let ended = shares.iter().map(|share| share.ended).max();
    let elapsed = begun.zip(ended).map_or(Duration::ZERO, |(begun, ended)| ended - begun);
    Ok(Counted { latencies, outside: 0, elapsed, usage, registered: None })
}

fn share(
    file: &TrialFile,
    trial: &DiskTrial,
    offsets: &Offsets,
    gate: &Barrier,
    seed: u64,
) -> Result<Share, CeilingError> {
    let mut buffer = AlignedBuffer::of(trial.operation, trial.size_bytes as usize, seed);
    let latencies = Latencies::new();
    let open = match trial.cache {
        Cache::Direct => file.direct(),
        Cache::Buffered => file.buffered(),
    };
    // All threads come to the gate, whatever has become of them.
    gate.wait();
    let mut latencies = latencies?;
    let before = Usage::of_thread();
    let begun = Instant::now();
    let deadline = deadline(begun, trial);
    let mut ended = begun;
    while ended < deadline {
        request(open, trial.operation, &mut buffer, offsets.draw())
            .map_err(|source| file.refused("a request was refused", source))?;
        let now = Instant::now();
        latencies.record(now - ended);
        ended = now;
    }
    Ok(Share { latencies, usage: Usage::of_thread().since(before), begun, ended })
}

fn request(file: &File, operation: Operation, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    match operation {
        Operation::Read => file.read_exact_at(buffer, offset),
        _ => file.write_all_at(buffer, offset),
    }
}
