//! A probe in a thread of its own. An error on its way ends it and stays readable: what the record
//! lacks is always said.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::probe::{
    DisksProbe, NeighboursProbe, Probe, ProbeKind, ProcessesProbe, SystemProbe, WaitsProbe,
};
use crate::worker::{Command, Worker};
use crate::{ObserveError, ProcRoot, SysRoot};
use assay_kernel::clock::thread_cpu_ns;
use assay_record::Stream;

/// What to sample, how often, and where to.
#[derive(Clone, Debug)]
pub struct SamplerConfig {
    /// The probe.
    pub kind: ProbeKind,
    /// The folder of the record's streams; it must exist.
    pub raw_dir: PathBuf,
    /// Time between samples.
    pub interval: Duration,
    /// Part of a core that the probe may take; it samples less often where that is too little for
    /// the interval. `None`: as much as it needs.
    pub core_share_max: Option<f64>,
    /// Where procfs is.
    pub proc_root: ProcRoot,
    /// Where sysfs is.
    pub sys_root: SysRoot,
    /// Processes whose rows are written, and the account of each; for probes that follow any.
    pub followed: Vec<(u32, String)>,
}

/// What a sampler did and cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerReport {
    /// Samples taken.
    pub samples: u64,
    /// CPU time of the sampler's thread.
    pub cpu_ns: u64,
    /// Longest sample.
    pub longest_ns: u64,
    /// Longest time between two samples that it chose, to cost no more than it may.
    pub interval_ns: i64,
    /// Why it ended early; `None`: it did not.
    pub error: Option<String>,
    /// What it could not observe, and why.
    pub notes: Vec<String>,
}

/// A running probe. Dropping it stops it, too.
pub struct Sampler {
    kind: ProbeKind,
    commands: Sender<Command>,
    error: Arc<OnceLock<String>>,
    thread: Option<JoinHandle<SamplerReport>>,
}

impl Sampler {
    /// Starts the probe's thread. The first sample is on disk when this returns.
    ///
    /// # Errors
    /// If a stream cannot be made (it exists, or the folder does not), if the first sample fails,
    /// or if processes are given to a probe that follows none.
    pub fn start(config: SamplerConfig) -> Result<Self, ObserveError> {
        let kind = config.kind;
        if !kind.follows() && !config.followed.is_empty() {
            return Err(ObserveError::FollowsNothing(kind));
        }
        let interval_ns = i64::try_from(config.interval.as_nanos()).unwrap_or(i64::MAX / 4);
        let core_share_max = config.core_share_max;
        let cost = Stream::create(&config.raw_dir, kind.cost_table())?;
        let probe = open(config)?;
        let report = SamplerReport::default();
        Self::launch(Worker {
            kind,
            probe,
            cost,
            interval_ns,
            core_share_max,
            report,
            flushed_ns: 0,
            flushed_samples: 0,
            flushed_apart_ns: 0,
        })
    }

    fn launch(worker: Worker) -> Result<Self, ObserveError> {
        let kind = worker.kind;
        let (commands, receiver) = channel();
        let (started, first_sample) = sync_channel(1);
        let error = Arc::new(OnceLock::new());
        let shown = Arc::clone(&error);
        // The kernel keeps fifteen bytes of the name: enough for the prefix that says it is ours.
        let thread = Builder::new()
            .name(format!("assay-probe-{}", kind.name()))
            .spawn(move || play(worker, &receiver, &started, &shown))
            .map_err(|source| ObserveError::Io { path: PathBuf::from("thread"), source })?;
        let sampler = Self { kind, commands, error, thread: Some(thread) };
        match first_sample.recv() {
            Ok(None) => Ok(sampler),
            Ok(Some(error)) => Err(error),
            Err(_) => Err(ObserveError::Panicked(kind)),
        }
    }

    /// Follows one more process and its descendants, from the next sample on.
    pub fn follow(&self, pid: u32, account: &str) -> Result<(), ObserveError> {
        if !self.kind.follows() {
            return Err(ObserveError::FollowsNothing(self.kind));
        }
        self.commands.send(Command::Follow(pid, account.to_owned())).map_err(|_| {
            let reason = self.error().unwrap_or_default().to_owned();
            ObserveError::Ended { kind: self.kind, reason }
        })
    }

    /// Why the probe ended early, with path and the operating system's words; `None`: it runs.
    pub fn error(&self) -> Option<&str> {
        self.error.get().map(String::as_str)
    }

    /// Takes a last sample, ends the streams and joins the thread. An early end is no `Err` here:
    /// it is in the report, with what was done until then.
    pub fn stop(mut self) -> Result<SamplerReport, ObserveError> {
        self.join().ok_or(ObserveError::Panicked(self.kind))
    }

    fn join(&mut self) -> Option<SamplerReport> {
        // A thread that ended early does not listen any more, and need not.
        let _ = self.commands.send(Command::Stop);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.join();
    }
}

fn open(config: SamplerConfig) -> Result<Box<dyn Probe>, ObserveError> {
    let SamplerConfig { kind, raw_dir, proc_root, sys_root, followed, .. } = config;
    Ok(match kind {
        ProbeKind::System => Box::new(SystemProbe::new(&proc_root, &raw_dir)?),
        ProbeKind::Processes => Box::new(ProcessesProbe::new(proc_root, &raw_dir, followed)?),
        ProbeKind::Waits => Box::new(WaitsProbe::new(proc_root, &raw_dir, followed)?),
        ProbeKind::Neighbours => Box::new(NeighboursProbe::new(proc_root, &raw_dir)?),
        ProbeKind::Disks => Box::new(DisksProbe::new(&proc_root, sys_root, &raw_dir)?),
    })
}

/// The thread: `started` gets `None` after the first sample, or the error that came before it.
fn play(
    mut worker: Worker,
    commands: &Receiver<Command>,
    started: &SyncSender<Option<ObserveError>>,
    shown: &OnceLock<String>,
) -> SamplerReport {
    let played = worker.run(commands, || {
        // The owner waits for this; were it gone, the commands would end as well.
        let _ = started.send(None);
    });
    // After an error the streams are ended as far as possible; the first error is the one to tell.
    let finished = worker.finish();
    if let Err(error) = played.and(finished) {
        worker.report.error = Some(error.to_string());
        let _ = shown.set(error.to_string());
        let _ = started.try_send(Some(error));
    }
    worker.report.cpu_ns = thread_cpu_ns();
    worker.report.notes = worker.probe.notes();
    worker.report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::PROBE_SYSTEM;

    /// A probe without streams of its own.
    struct NullProbe;

    impl Probe for NullProbe {
        fn sample(&mut self, _time_ns: i64) -> Result<(), ObserveError> {
            Ok(())
        }

        fn streams(&mut self) -> &mut [Stream] {
            &mut []
        }
    }

    #[test]
    fn a_write_error_ends_the_sampler_and_is_told() {
        let (reader, writer) = std::io::pipe().unwrap();
        let file = std::fs::File::from(std::os::fd::OwnedFd::from(writer));
        let cost = Stream::over(file, PathBuf::from("raw/pipe.arrows"), &PROBE_SYSTEM).unwrap();
        let sampler = Sampler::launch(Worker {
            kind: ProbeKind::System,
            probe: Box::new(NullProbe),
            cost,
            interval_ns: 1_000_000,
            core_share_max: None,
            report: SamplerReport::default(),
            flushed_ns: 0,
            flushed_samples: 0,
            flushed_apart_ns: 0,
        })
        .unwrap();
        assert_eq!(sampler.error(), None);
        drop(reader);
        while sampler.error().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let message = "raw/pipe.arrows: Broken pipe (os error 32)";
        assert_eq!(sampler.error(), Some(message));
        let report = sampler.stop().unwrap();
        assert_eq!(report.error.as_deref(), Some(message));
        assert!(report.samples >= 1);
    }
}
