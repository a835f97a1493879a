//! Requests by a ring: one thread keeps as many under way as are asked for. The only place of this
//! crate that is not safe by construction: the kernel reads and writes memory of ours meanwhile.
#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::{IoUring, opcode, squeue, types};

use super::buffer::AlignedBuffer;
use super::offsets::Offsets;
use super::{Counted, DiskTrial, Latencies, Operation, TrialFile, deadline};
use crate::CeilingError;
use crate::usage::Usage;

/// The file's place among the registered ones.
const FILE: types::Fixed = types::Fixed(0);

/// Why the kernel grants no ring; None where it does.
pub fn refusal() -> Option<io::Error> {
    opened(1).err()
}

/// A ring whose completions are worked off by the thread that waits for them, where the kernel
/// knows that (6.1); this spares it interruptions.
fn opened(depth: u32) -> io::Result<IoUring> {
    IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(depth).or_else(|error| {
        match error.raw_os_error() {
            Some(libc::EINVAL) => IoUring::new(depth),
            _ => Err(error),
        }
    })
}

pub fn play(file: &TrialFile, trial: &DiskTrial, seed: u64) -> Result<Counted, CeilingError> {
    let refused = |source| file.refused("a ring was refused", source);
    let ring = opened(trial.depth).map_err(refused)?;
    ring.submitter().register_files(&[file.direct().as_raw_fd()]).map_err(refused)?;
    let offsets = Offsets::new(trial.pattern, trial.size_bytes, file.size_bytes(), seed);
    let length = (trial.size_bytes * u64::from(trial.depth)) as usize;
    let memory = AlignedBuffer::of(trial.operation, length, seed);
    let begun = vec![Instant::now(); trial.depth as usize];
    let mut flight =
        Flight { ring, memory, begun, registered: false, trial, offsets, under_way: 0, outside: 0 };
    flight.register().map_err(refused)?;
    let played = flight.play();
    let outside = flight.land();
    let counted = played.map_err(|failure| failure.into_error(file))?;
    Ok(Counted { outside, ..counted })
}

enum Failure {
    Request(io::Error),
    Ours(CeilingError),
}

impl Failure {
    fn into_error(self, file: &TrialFile) -> CeilingError {
        match self {
            Self::Request(source) => file.refused("a request was refused", source),
            Self::Ours(error) => error,
        }
    }
}

/// A ring with its memory, a slot of it for each request under way. It may not go while the kernel
/// still has requests for it.
struct Flight<'a> {
    ring: IoUring,
    memory: AlignedBuffer,
    begun: Vec<Instant>,
    registered: bool,
    trial: &'a DiskTrial,
    offsets: Offsets,
    under_way: usize,
    outside: u64,
}

impl Flight<'_> {
    /// Hands the buffers over once for all; where memory may not be locked they are plain ones.
    fn register(&mut self) -> io::Result<()> {
        let size_bytes = self.trial.size_bytes as usize;
        let slots = self.memory.chunks_exact_mut(size_bytes);
        let vectors: Vec<libc::iovec> = slots
            .map(|slot| libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() })
            .collect();
        // SAFETY: they lie in `memory`, which stays until nothing is under way; its bytes are on the
        // heap and do not move with it.
        match unsafe { self.ring.submitter().register_buffers(&vectors) } {
            Ok(()) => self.registered = true,
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOMEM | libc::EPERM)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn play(&mut self) -> Result<Counted, Failure> {
        let mut latencies = Latencies::new().map_err(Failure::Ours)?;
        let mut free: Vec<usize> = (0..self.begun.len()).collect();
        self.fill_up(&mut free, &mut latencies).map_err(Failure::Request)?;
        self.outside = latencies.count();
        latencies.clear();
        let before = Usage::of_thread();
        let begun = Instant::now();
        let deadline = deadline(begun, self.trial);
        let mut ended = begun;
        while ended < deadline {
            self.issue(&mut free, ended).map_err(Failure::Request)?;
            ended = self.reap(&mut free, &mut latencies).map_err(Failure::Request)?;
        }
        let usage = Usage::of_thread().since(before);
        let (outside, registered) = (self.outside, Some(self.registered));
        Ok(Counted { latencies, outside, elapsed: ended - begun, usage, registered })
    }

    /// Makes requests until as many have ended as are under way at once: what is counted then begins
    /// with a full queue, as it ends.
    fn fill_up(&mut self, free: &mut Vec<usize>, latencies: &mut Latencies) -> io::Result<()> {
        let mut now = Instant::now();
        while latencies.count() < u64::from(self.trial.depth) {
            self.issue(free, now)?;
            now = self.reap(free, latencies)?;
        }
        Ok(())
    }

    /// Has a request under way for each free buffer, and waits until one has ended.
    ///
    /// They are handed over one after another. Together, neighbours would become one larger request
    /// on their way, which is another size than the one asked for; and others would wait for each
    /// other before the device hears of any.
    fn issue(&mut self, free: &mut Vec<usize>, now: Instant) -> io::Result<()> {
        while let Some(slot) = free.pop() {
            self.push(slot, now)?;
            if !free.is_empty() {
                uninterrupted(|| self.ring.submit())?;
            }
        }
        uninterrupted(|| self.ring.submit_and_wait(1))
    }

    fn push(&mut self, slot: usize, now: Instant) -> io::Result<()> {
        let size_bytes = self.trial.size_bytes as usize;
        let length = size_bytes as u32;
        let memory = self.memory[slot * size_bytes..][..size_bytes].as_mut_ptr();
        self.begun[slot] = now;
        let offset = self.offsets.draw();
        let (index, reads) = (slot as u16, self.trial.operation == Operation::Read);
        let entry: squeue::Entry = match (reads, self.registered) {
            (true, true) => {
                opcode::ReadFixed::new(FILE, memory, length, index).offset(offset).build()
            }
            (true, false) => opcode::Read::new(FILE, memory, length).offset(offset).build(),
            (false, true) => {
                opcode::WriteFixed::new(FILE, memory, length, index).offset(offset).build()
            }
            (false, false) => opcode::Write::new(FILE, memory, length).offset(offset).build(),
        };
        // SAFETY: the entry names memory that stays until its request has ended: see `land`.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
        pushed.map_err(|_| io::Error::other("the ring is full"))?;
        self.under_way += 1;
        Ok(())
    }

    /// Takes what has ended; returns when that was.
    fn reap(&mut self, free: &mut Vec<usize>, latencies: &mut Latencies) -> io::Result<Instant> {
        let now = Instant::now();
        let whole = self.trial.size_bytes as i32;
        for ended in self.ring.completion() {
            self.under_way -= 1;
            if ended.result() < 0 {
                return Err(io::Error::from_raw_os_error(-ended.result()));
            }
            if ended.result() != whole {
                return Err(io::Error::other(format!("{} of {whole} bytes", ended.result())));
            }
            let slot = ended.user_data() as usize;
            latencies.record(now - self.begun[slot]);
            free.push(slot);
        }
        Ok(now)
    }

    /// Waits until the kernel is done with the memory; returns the requests that were not counted.
    /// Where it does not tell that any more, the memory is left to it for good.
    fn land(mut self) -> u64 {
        self.outside += self.under_way as u64;
        while self.under_way > 0 {
            if uninterrupted(|| self.ring.submit_and_wait(1)).is_err() {
                mem::forget(self.memory);
                break;
            }
            self.under_way -= self.ring.completion().count();
        }
        self.outside
    }
}

fn uninterrupted(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome.map(|_| ()),
        }
    }
}
