//! Trials of memory and of cores: threads that do the same work, each on memory of its own.

mod chase;
mod cores;
mod streams;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::CeilingError;
use crate::usage::Usage;

const THREADS_MAX: u32 = 4096;
/// Before the clock starts: a core that slept is slow at first.
const WARMUP: Duration = Duration::from_millis(10);

/// What a trial of memory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKernel {
    /// Adds an array up.
    Read,
    /// Fills an array.
    Write,
    /// One array into another.
    Copy,
    /// `a[i] = b[i] + s * c[i]`.
    Triad,
    /// Loads of which each says where the next one is, all over an array.
    Chase,
}

/// What a trial of cores does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreKernel {
    /// A chain of multiplications and additions, each of which needs the one before.
    Arithmetic,
    /// Sorts numbers that lie near.
    Sort,
    /// Puts numbers into a hash table that lies near.
    Hash,
}

/// One trial of memory, as it is asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryTrial {
    /// The round it belongs to, from 1.
    pub round: u32,
    /// What it does.
    pub kernel: MemoryKernel,
    /// Threads at work; 1 of `chase`.
    pub threads: u32,
    /// Bytes of each array.
    pub array_bytes: u64,
    /// For how long.
    pub time_ns: u64,
}

/// One trial of cores, as it is asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreTrial {
    /// The round it belongs to, from 1.
    pub round: u32,
    /// What it does.
    pub kernel: CoreKernel,
    /// Threads at work.
    pub threads: u32,
    /// For how long.
    pub time_ns: u64,
}

/// What a trial counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Bytes, loads or steps: see the tables.
    pub amount: u64,
    /// From the first thread's begin to the last one's end.
    pub elapsed: Duration,
    /// CPU time of all threads.
    pub usage: Usage,
}

impl MemoryKernel {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Triad => "triad",
            Self::Chase => "chase",
        }
    }
}

impl CoreKernel {
    /// The word of the record.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Sort => "sort",
            Self::Hash => "hash",
        }
    }
}

/// Work that can be done again and again.
trait Pass {
    /// Does it once; returns how much that was.
    fn pass(&mut self) -> u64;
}

/// Makes a trial of memory.
///
/// # Errors
/// If there are no such threads or arrays.
pub fn play_memory(trial: &MemoryTrial) -> Result<Worked, CeilingError> {
    let word_count = (trial.array_bytes / 8) as usize;
    if word_count < 64 {
        let message = format!("an array has at least 512 bytes, not {}", trial.array_bytes);
        return Err(CeilingError::Trial(message));
    }
    if trial.kernel == MemoryKernel::Chase && trial.threads != 1 {
        return Err(CeilingError::Trial("one thread chases pointers".to_owned()));
    }
    let time = Duration::from_nanos(trial.time_ns);
    match trial.kernel {
        MemoryKernel::Read => timed(trial.threads, time, |_| streams::Read::new(word_count)),
        MemoryKernel::Write => timed(trial.threads, time, |_| streams::Write::new(word_count)),
        MemoryKernel::Copy => timed(trial.threads, time, |_| streams::Copy::new(word_count)),
        MemoryKernel::Triad => timed(trial.threads, time, |_| streams::Triad::new(word_count)),
        MemoryKernel::Chase => timed(trial.threads, time, |_| chase::Chase::new(word_count)),
    }
}

/// Makes a trial of cores.
///
/// # Errors
/// If there are no such threads.
pub fn play_core(trial: &CoreTrial) -> Result<Worked, CeilingError> {
    let time = Duration::from_nanos(trial.time_ns);
    match trial.kernel {
        CoreKernel::Arithmetic => timed(trial.threads, time, cores::Arithmetic::new),
        CoreKernel::Sort => timed(trial.threads, time, cores::Sort::new),
        CoreKernel::Hash => timed(trial.threads, time, cores::Hash::new),
    }
}

/// What one thread did.
struct Share {
    amount: u64,
    begun: Instant,
    ended: Instant,
    usage: Usage,
}

/// Has each thread make its own work, begin together with all others, and stop by the clock.
fn timed<P: Pass>(
    threads: u32,
    time: Duration,
    make: impl Fn(u64) -> P + Sync,
) -> Result<Worked, CeilingError> {
    if threads == 0 || threads > THREADS_MAX {
        return Err(CeilingError::Trial(format!("1 to {THREADS_MAX} threads, not {threads}")));
    }
    let gate = Barrier::new(threads as usize);
    let shares = thread::scope(|scope| {
        let work = |number| {
            let (make, gate) = (&make, &gate);
            scope.spawn(move || share(make(u64::from(number)), time, gate))
        };
        let started: Vec<_> = (0..threads).map(work).collect();
        started
            .into_iter()
            .map(|thread| thread.join().map_err(|_| CeilingError::Panicked))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let begun = shares.iter().map(|share| share.begun).min();
    let ended = shares.iter().map(|share| share.ended).max();
    Ok(Worked {
        amount: shares.iter().map(|share| share.amount).sum(),
        elapsed: begun.zip(ended).map_or(Duration::ZERO, |(begun, ended)| ended - begun),
        usage: shares.iter().fold(Usage::default(), |sum, share| sum.and(share.usage)),
    })
}

fn share<P: Pass>(mut work: P, time: Duration, gate: &Barrier) -> Share {
    let warm = Instant::now() + WARMUP;
    while Instant::now() < warm {
        work.pass();
    }
    gate.wait();
    let before = Usage::of_thread();
    let begun = Instant::now();
    let deadline = begun + time;
    let (mut amount, mut ended) = (0, begun);
    while ended < deadline {
        amount += work.pass();
        ended = Instant::now();
    }
    Share { amount, begun, ended, usage: Usage::of_thread().since(before) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_NS: u64 = 5_000_000;

    fn memory(kernel: MemoryKernel, threads: u32) -> MemoryTrial {
        MemoryTrial { round: 1, kernel, threads, array_bytes: 64 << 10, time_ns: TIME_NS }
    }

    #[test]
    fn every_kernel_of_memory_does_work() {
        let kernels =
            [MemoryKernel::Read, MemoryKernel::Write, MemoryKernel::Copy, MemoryKernel::Triad];
        for (kernel, arrays) in kernels.into_iter().zip([1, 1, 2, 3]) {
            for threads in [1, 2] {
                let worked = play_memory(&memory(kernel, threads)).unwrap();
                assert!(worked.amount > 0);
                assert_eq!(worked.amount % (arrays * (64 << 10)), 0, "{kernel:?}");
                assert!(worked.elapsed >= Duration::from_nanos(TIME_NS));
            }
        }
        assert!(play_memory(&memory(MemoryKernel::Chase, 1)).unwrap().amount > 0);
    }

    #[test]
    fn every_kernel_of_cores_uses_a_core() {
        for kernel in [CoreKernel::Arithmetic, CoreKernel::Sort, CoreKernel::Hash] {
            let trial = CoreTrial { round: 1, kernel, threads: 2, time_ns: TIME_NS };
            let worked = play_core(&trial).unwrap();
            assert!(worked.amount > 0);
            assert!(worked.usage.user_ns > 0, "{kernel:?}");
        }
    }

    #[test]
    fn wrong_trials_are_refused_with_the_reason() {
        let right = memory(MemoryKernel::Read, 1);
        let refusal = |trial| play_memory(&trial).unwrap_err().to_string();
        assert!(refusal(MemoryTrial { threads: 0, ..right }).contains("threads, not 0"));
        assert!(refusal(MemoryTrial { array_bytes: 8, ..right }).contains("not 8"));
        let many = MemoryTrial { kernel: MemoryKernel::Chase, threads: 2, ..right };
        assert!(refusal(many).contains("one thread"));
    }
}
