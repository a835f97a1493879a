//! The profile probe: a thread that reads the rings while the engine works, and names what it saw
//! when it is stopped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use assay_kernel::ProcRoot;
use assay_kernel::clock::{monotonic_ns, thread_cpu_ns};

use crate::attach::{Attached, Granted, Wish, processors};
use crate::naming;
use crate::perf::Stacks;
use crate::rows::{Cost, Rows};
use crate::watch::Watch;
use crate::{ProfileError, ProfilerReport};

/// A killed process loses at most what came after its last flush.
const FLUSH_INTERVAL_NS: i64 = 1_000_000_000;
/// Often enough that no ring is half full, at the usual frequency.
const LOOK_INTERVAL_MS: i32 = 100;
/// A record is in its ring so long after its time, at most: what is later waits for the next look.
const IN_FLIGHT_NS: i64 = 5_000_000;
const OTHER_PROCESSORS: &str = "processors went off or came on line while samples were taken: those \
                                that came have none";

/// A profile that is being taken. Dropping it ends it, too.
pub struct Profiler {
    granted: Granted,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<ProfilerReport>>,
}

impl Profiler {
    /// Begins to sample; the streams are on disk and events at work when this returns.
    ///
    /// # Errors
    /// If the kernel does not allow it, with what would; if a stream cannot be made; if there is
    /// no such process.
    pub fn start(raw_dir: &Path, wish: &Wish) -> Result<Self, ProfileError> {
        let attached = Attached::to(wish)?;
        let granted = attached.granted;
        let rows = Rows::create(raw_dir)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stopping);
        // Fifteen bytes of the name are kept: enough for the prefix that says it is ours.
        let thread = Builder::new()
            .name("assay-probe-profile".to_owned())
            .spawn(move || Work::new(attached, rows).carry_out(&stop_flag))
            .map_err(|source| ProfileError::Io { path: PathBuf::from("thread"), source })?;
        Ok(Self { granted, stopping, thread: Some(thread) })
    }

    /// What the kernel granted.
    pub fn granted(&self) -> Granted {
        self.granted
    }

    /// Ends sampling, names all functions and ends the streams.
    pub fn stop(mut self) -> Result<ProfilerReport, ProfileError> {
        self.join().ok_or(ProfileError::Panicked)
    }

    fn join(&mut self) -> Option<ProfilerReport> {
        self.stopping.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        self.join();
    }
}

/// What the thread owns.
struct Work {
    attached: Attached,
    watch: Watch,
    rows: Rows,
    cost: Cost,
    flushed_ns: i64,
}

impl Work {
    fn new(attached: Attached, rows: Rows) -> Self {
        let copied_bytes = match attached.granted.attr.stacks {
            Stacks::Copies(bytes) => Some(bytes as usize),
            Stacks::FramePointers => None,
        };
        let watch = Watch::new(ProcRoot::default(), attached.family.clone(), copied_bytes);
        Self { attached, watch, rows, cost: Cost::default(), flushed_ns: 0 }
    }

    fn carry_out(mut self, stopping: &AtomicBool) -> ProfilerReport {
        let sampled = self.sample_until(stopping);
        let mut report = ProfilerReport {
            counts: self.watch.counts,
            cpu_ns: self.cost.cpu_ns,
            longest_ns: self.cost.longest_ns,
            ..ProfilerReport::default()
        };
        if sampled.is_ok() {
            report.notes = naming::name_all(&self.watch.modules, &self.watch.tree, &mut self.rows);
        }
        if processors().is_ok_and(|now| now != self.attached.processors) {
            report.notes.push(OTHER_PROCESSORS.to_owned());
        }
        // After an error the streams are ended as far as possible; the first error is told.
        let finished = self.rows.finish();
        report.error = sampled.and(finished).err().map(|error| error.to_string());
        report
    }

    fn sample_until(&mut self, stopping: &AtomicBool) -> Result<(), ProfileError> {
        while !stopping.load(Ordering::Relaxed) {
            self.attached.rings.wait(LOOK_INTERVAL_MS);
            self.look(monotonic_ns() - IN_FLIGHT_NS)?;
        }
        self.attached.stop();
        self.look(i64::MAX)?;
        let counts = &mut self.watch.counts;
        counts.lost = counts.lost.max(self.attached.lost());
        self.flush()
    }

    /// Takes all records up to a moment.
    fn look(&mut self, horizon_ns: i64) -> Result<(), ProfileError> {
        let begun_ns = monotonic_ns();
        let (watch, rows) = (&mut self.watch, &mut self.rows);
        self.attached.rings.drain(horizon_ns, |record| watch.take(record, rows));
        let took_ns = monotonic_ns() - begun_ns;
        self.cost.longest_ns = self.cost.longest_ns.max(took_ns as u64);
        if begun_ns - self.flushed_ns > FLUSH_INTERVAL_NS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ProfileError> {
        self.flushed_ns = monotonic_ns();
        self.cost.cpu_ns = thread_cpu_ns();
        let Watch { modules, tree, counts, .. } = &self.watch;
        self.rows.flush(self.flushed_ns, modules, tree, *counts, self.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Counts;

    const WORKED_NS: u64 = 50_000_000;

    fn work() {
        let begun_ns = thread_cpu_ns();
        while thread_cpu_ns() - begun_ns < WORKED_NS {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn what_found_no_room_after_the_last_record_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let attached = Attached::narrow(rustix::thread::gettid().as_raw_pid().cast_unsigned());
        let mut taken = Work::new(attached, Rows::create(folder.path()).unwrap());
        std::thread::spawn(work).join().unwrap();
        let lost_by_thread = taken.attached.lost();
        work();
        taken.sample_until(&AtomicBool::new(true)).unwrap();
        let Counts { samples, elsewhere, lost, .. } = taken.watch.counts;
        assert!(samples + elsewhere > 0, "a few found room");
        // Of 250 each, or fewer where the kernel pauses; the thread inherited the event.
        assert!(lost_by_thread > 10, "{lost_by_thread} lost");
        assert!(lost > lost_by_thread + 10, "{lost_by_thread}, then {lost} lost");
    }
}
