//! A sweep: the file, the streams of the record, and trials one after another.

use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_kernel::clock::monotonic_ns;
use assay_model::Cell;
use assay_model::random::split_mix;
use assay_record::Stream;

use crate::CeilingError;
use crate::disk::{Counted, DeviceCounters, DiskTrial, Operation, TrialFile, play};
use crate::host::HostTime;
use crate::machine::{CoreTrial, MemoryKernel, MemoryTrial, Worked, play_core, play_memory};
use crate::tables::{CEILING_CORE, CEILING_DISK, CEILING_MEMORY};

const SYS: &str = "/sys";

/// Trials under way. Each has its row on disk when it has ended.
pub struct Sweep {
    seed: u64,
    sequence: u64,
    file: Option<TrialFile>,
    device: Option<PathBuf>,
    disk: Stream,
    memory: Stream,
    core: Stream,
}

/// What is known before and after each trial.
struct Around {
    begun_ns: i64,
    host: HostTime,
}

impl Around {
    fn begin() -> Result<Self, CeilingError> {
        Ok(Self { begun_ns: monotonic_ns(), host: HostTime::now()? })
    }

    fn host(&self) -> Result<HostTime, CeilingError> {
        Ok(HostTime::now()?.since(self.host))
    }
}

impl Sweep {
    /// Makes the streams in `raw_dir`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn create(raw_dir: &Path, seed: u64) -> Result<Self, CeilingError> {
        Ok(Self {
            seed,
            sequence: 0,
            file: None,
            device: None,
            disk: Stream::create(raw_dir, &CEILING_DISK)?,
            memory: Stream::create(raw_dir, &CEILING_MEMORY)?,
            core: Stream::create(raw_dir, &CEILING_CORE)?,
        })
    }

    /// Makes the file that trials of the disk need; `fill` fills it.
    ///
    /// # Errors
    /// As `TrialFile::create`.
    pub fn open(&mut self, directory: &Path, size_bytes: u64) -> Result<&TrialFile, CeilingError> {
        let file = TrialFile::create(directory, size_bytes)?;
        self.device = DeviceCounters::path(Path::new(SYS), file.device_number()?);
        Ok(self.file.insert(file))
    }

    /// Writes up to so many more bytes of the file; returns how many it has.
    ///
    /// # Errors
    /// As `TrialFile::fill`.
    pub fn fill(&mut self, at_most_bytes: u64) -> Result<u64, CeilingError> {
        self.file.as_mut().ok_or_else(no_file)?.fill(at_most_bytes)
    }

    /// Makes a trial of the disk; returns how many requests ended.
    ///
    /// # Errors
    /// As `disk::play`, and if its row cannot be written.
    pub fn disk(&mut self, trial: &DiskTrial) -> Result<u64, CeilingError> {
        let seed = self.next_seed();
        let file = self.file.as_ref().ok_or_else(no_file)?;
        let before = self.device.as_deref().and_then(DeviceCounters::read);
        let around = Around::begin()?;
        let counted = play(file, trial, seed)?;
        let host = around.host()?;
        let after = self.device.as_deref().and_then(DeviceCounters::read);
        let device = after.zip(before).map(|(after, before)| after.since(before));
        self.push_disk(trial, &counted, device, around.begun_ns, host);
        self.disk.flush()?;
        Ok(counted.latencies.count())
    }

    /// Makes a trial of memory; returns bytes that were moved, or loads.
    ///
    /// # Errors
    /// As `machine::play_memory`, and if its row cannot be written.
    pub fn memory(&mut self, trial: &MemoryTrial) -> Result<u64, CeilingError> {
        self.next_seed();
        let around = Around::begin()?;
        let worked = play_memory(trial)?;
        let host = around.host()?;
        let chases = trial.kernel == MemoryKernel::Chase;
        let amount = Cell::Count(worked.amount);
        self.memory.push(&[
            Cell::Count(u64::from(trial.round)),
            Cell::Count(self.sequence),
            Cell::Int(around.begun_ns),
            Cell::Text(trial.kernel.word()),
            Cell::Count(u64::from(trial.threads)),
            Cell::Count(trial.array_bytes),
            if chases { Cell::Null } else { amount },
            if chases { amount } else { Cell::Null },
            nanoseconds(worked.elapsed),
            Cell::Count(host.busy_ns),
            Cell::Count(host.steal_ns),
        ]);
        self.memory.flush()?;
        Ok(worked.amount)
    }

    /// Makes a trial of cores; returns how many steps were made.
    ///
    /// # Errors
    /// As `machine::play_core`, and if its row cannot be written.
    pub fn core(&mut self, trial: &CoreTrial) -> Result<u64, CeilingError> {
        self.next_seed();
        let around = Around::begin()?;
        let Worked { amount, elapsed, usage } = play_core(trial)?;
        let host = around.host()?;
        self.core.push(&[
            Cell::Count(u64::from(trial.round)),
            Cell::Count(self.sequence),
            Cell::Int(around.begun_ns),
            Cell::Text(trial.kernel.word()),
            Cell::Count(u64::from(trial.threads)),
            Cell::Count(amount),
            nanoseconds(elapsed),
            Cell::Count(usage.user_ns + usage.system_ns),
            Cell::Count(host.busy_ns),
            Cell::Count(host.steal_ns),
        ]);
        self.core.flush()?;
        Ok(amount)
    }

    /// Ends the streams and lets the file go.
    ///
    /// # Errors
    /// If the streams cannot be written.
    pub fn finish(mut self) -> Result<(), CeilingError> {
        self.disk.finish()?;
        self.memory.finish()?;
        Ok(self.core.finish()?)
    }

    fn next_seed(&mut self) -> u64 {
        self.sequence += 1;
        split_mix(self.seed ^ split_mix(self.sequence))
    }

    fn push_disk(
        &mut self,
        trial: &DiskTrial,
        counted: &Counted,
        device: Option<DeviceCounters>,
        begun_ns: i64,
        host: HostTime,
    ) {
        let latencies = &counted.latencies;
        let directions = device.map(|device| match trial.operation {
            Operation::Read => (device.read, device.write),
            _ => (device.write, device.read),
        });
        let buffers = match counted.registered {
            None => Cell::Null,
            Some(true) => Cell::Text("registered"),
            Some(false) => Cell::Text("plain"),
        };
        self.disk.push(&[
            Cell::Count(u64::from(trial.round)),
            Cell::Count(self.sequence),
            Cell::Int(begun_ns),
            Cell::Text(trial.operation.word()),
            Cell::Text(trial.pattern.word()),
            Cell::Text(trial.cache.word()),
            Cell::Text(trial.method.word()),
            buffers,
            Cell::Count(u64::from(trial.depth)),
            Cell::Count(trial.size_bytes),
            Cell::Count(latencies.count()),
            Cell::Count(counted.outside),
            nanoseconds(counted.elapsed),
            Cell::Count(counted.usage.user_ns),
            Cell::Count(counted.usage.system_ns),
            Cell::Count(latencies.mean_ns()),
            Cell::Count(latencies.min_ns()),
            Cell::Count(latencies.quantile_ns(0.5)),
            Cell::Count(latencies.quantile_ns(0.9)),
            Cell::Count(latencies.quantile_ns(0.99)),
            Cell::Count(latencies.quantile_ns(0.999)),
            Cell::Count(latencies.max_ns()),
            directions.map(|(own, _)| own.requests).into(),
            directions.map(|(own, _)| own.merged).into(),
            directions.map(|(own, _)| own.bytes).into(),
            directions.map(|(_, other)| other.bytes).into(),
            Cell::Count(host.busy_ns),
            Cell::Count(host.steal_ns),
        ]);
    }
}

fn nanoseconds<'a>(time: Duration) -> Cell<'a> {
    Cell::Count(time.as_nanos() as u64)
}

fn no_file() -> CeilingError {
    CeilingError::Trial("there is no file yet".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use arrow_ipc::reader::StreamReader;

    use super::*;
    use crate::disk::{Cache, Method, Pattern};
    use crate::machine::CoreKernel;

    fn rows(raw: &Path, name: &str) -> usize {
        let file = File::open(raw.join(name)).unwrap();
        let batches = StreamReader::try_new(file, None).unwrap();
        batches.map(|batch| batch.unwrap().num_rows()).sum()
    }

    #[test]
    fn each_trial_is_a_row_of_the_record_at_once() {
        let place = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let raw = tempfile::tempdir().unwrap();
        let mut sweep = Sweep::create(raw.path(), 1).unwrap();
        let bytes = sweep.open(place.path(), 8 << 20).unwrap().size_bytes();
        while sweep.fill(4 << 20).unwrap() < bytes {}
        let disk = DiskTrial {
            round: 1,
            operation: Operation::Read,
            pattern: Pattern::Random,
            cache: Cache::Direct,
            method: Method::Calls,
            depth: 1,
            size_bytes: 4096,
            time_ns: 1_000_000,
        };
        assert!(sweep.disk(&disk).unwrap() > 0);
        assert_eq!(rows(raw.path(), "ceiling-disk.arrows"), 1);
        sweep.disk(&DiskTrial { operation: Operation::Write, ..disk }).unwrap();
        let core = CoreTrial { round: 1, kernel: CoreKernel::Sort, threads: 1, time_ns: 1_000_000 };
        sweep.core(&core).unwrap();
        let memory = MemoryTrial {
            round: 1,
            kernel: MemoryKernel::Chase,
            threads: 1,
            array_bytes: 4096,
            time_ns: 1_000_000,
        };
        sweep.memory(&memory).unwrap();
        sweep.finish().unwrap();
        for (stream, count) in [("disk", 2), ("memory", 1), ("core", 1)] {
            assert_eq!(rows(raw.path(), &format!("ceiling-{stream}.arrows")), count);
        }
    }

    #[test]
    fn trials_of_the_disk_need_a_file() {
        let raw = tempfile::tempdir().unwrap();
        let mut sweep = Sweep::create(raw.path(), 1).unwrap();
        assert_eq!(sweep.fill(1).unwrap_err().to_string(), "no such trial: there is no file yet");
    }
}
