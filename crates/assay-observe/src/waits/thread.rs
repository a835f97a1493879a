//! One thread: its open files, and what was last seen of it.

use std::path::{Path, PathBuf};

use crate::ObserveError;
use crate::followed::Reader;
use crate::tasks::{DISK, RUNNING};
use assay_kernel::file::{Buffer, ProcFile, descriptors_are_scarce};
use assay_kernel::parse::{ProcessStat, SchedStat, SystemCall};

/// Asleep until something happens, or a signal comes.
const SLEEPING: char = 'S';
/// The state of a thread that is gone.
pub(crate) const GONE: char = 'X';
/// Threads of ours; a thread of an embedded engine's process may be one.
const OWN_PREFIX: &str = "assay-";
/// A thread that has slept for long is looked at again after this part of that time, so that the
/// threads that an engine keeps for later cost little.
const PART_OF_SLEEP: i64 = 10;
const NEXT_LOOK_MAX_NS: i64 = 100_000_000;
const SLEEPS_LONG_NS: i64 = 1_000_000_000;
/// A thread that has run for so long has named itself.
const NAMED_AFTER_NS: u64 = 1_000_000;

/// What a look at a thread finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub comm: String,
    pub state: char,
    /// Where in the kernel it sleeps.
    pub channel: Option<String>,
    pub call: Option<SystemCall>,
    /// `None` where the kernel keeps no such clock.
    pub clock: Option<SchedStat>,
}

/// A look that found something new.
pub(crate) struct Change<'a> {
    pub pid: u32,
    pub tid: u32,
    /// When the look before was; `None`: this was the first.
    pub seen_ns: Option<i64>,
    pub seen: &'a Seen,
}

/// How much the kernel told of threads that were asleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SleepCounts {
    pub asleep: u64,
    pub channels: u64,
    pub calls: u64,
}

/// A thread that is looked at.
pub(crate) struct Thread {
    pub tid: u32,
    dir: PathBuf,
    schedstat: ProcFile,
    open: Option<Open>,
    seen: Option<Seen>,
    seen_ns: Option<i64>,
    since_ns: i64,
    due_ns: i64,
    is_ours: bool,
}

/// Files that only a thread that comes and goes needs; open files are scarce.
struct Open {
    stat: ProcFile,
    channel: ProcFile,
    call: ProcFile,
}

/// What became of a thread since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// As it was, without a CPU.
    SleptOn,
    /// It may have done something.
    Ran,
    /// Gone, or found to be ours.
    Left,
}

impl Thread {
    pub fn new(tasks: &Path, tid: u32) -> Self {
        let dir = tasks.join(tid.to_string());
        let schedstat = ProcFile::record(dir.join("schedstat"));
        Self {
            tid,
            dir,
            schedstat,
            open: None,
            seen: None,
            seen_ns: None,
            since_ns: 0,
            due_ns: i64::MIN,
            is_ours: false,
        }
    }

    /// Whether it is one of our own threads, which are not looked at.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Whether it has not slept for so long that this look can leave it out.
    pub fn is_due(&self, time_ns: i64) -> bool {
        time_ns >= self.due_ns
    }

    /// Looks at it; `note` gets what is new.
    pub fn look(
        &mut self,
        (pid, time_ns): (u32, i64),
        (reader, sleep_counts): (&mut Reader, &mut SleepCounts),
        note: &mut impl FnMut(Change<'_>),
    ) -> Result<Fate, ObserveError> {
        let clock = self.clock(&mut reader.buffer)?;
        let seen_ns = self.seen_ns.replace(time_ns);
        if self.sleeps_on(clock) {
            self.open = None;
            let slept_ns = time_ns.saturating_sub(self.since_ns);
            self.due_ns = time_ns + (slept_ns / PART_OF_SLEEP).min(NEXT_LOOK_MAX_NS);
            if slept_ns > SLEEPS_LONG_NS && descriptors_are_scarce() {
                self.schedstat.close();
            }
            return Ok(Fate::SleptOn);
        }
        self.since_ns = time_ns;
        let seen = self.read(clock, reader, sleep_counts)?;
        self.is_ours = seen.as_ref().is_some_and(|seen| seen.comm.starts_with(OWN_PREFIX));
        let (seen, fate) = match seen.filter(|_| !self.is_ours) {
            Some(seen) if Some(&seen) == self.seen.as_ref() => (None, Fate::Ran),
            Some(seen) => (Some(seen), Fate::Ran),
            None => (self.seen.take().map(Seen::gone), Fate::Left),
        };
        if let Some(seen) = seen {
            note(Change { pid, tid: self.tid, seen_ns, seen: &seen });
            self.seen = Some(seen);
        }
        Ok(fate)
    }

    fn clock(&mut self, buffer: &mut Buffer) -> Result<Option<SchedStat>, ObserveError> {
        let Some(text) = self.schedstat.read(buffer)? else { return Ok(None) };
        Ok(Some(SchedStat::parse(self.schedstat.path(), text)?))
    }

    /// Whether it slept and still does: it had no CPU on which it could have done anything else.
    fn sleeps_on(&self, clock: Option<SchedStat>) -> bool {
        let Some(seen) = &self.seen else { return false };
        // A kernel that keeps no such clock prints zeros, if it prints anything.
        let is_kept = clock.is_some_and(|clock| clock.timeslices > 0);
        is_kept && seen.clock == clock && seen.state != RUNNING
    }

    /// `None`: it is gone.
    fn read(
        &mut self,
        clock: Option<SchedStat>,
        Reader { buffer, units, .. }: &mut Reader,
        sleep_counts: &mut SleepCounts,
    ) -> Result<Option<Seen>, ObserveError> {
        // The files of a thread that is gone cannot be read any more, the others no more than this.
        if clock.is_none() && self.seen.as_ref().is_some_and(|seen| seen.clock.is_some()) {
            return Ok(None);
        }
        let files = self.open.get_or_insert_with(|| Open::new(&self.dir));
        let call = match files.call.read(buffer)? {
            Some(text) => Some(SystemCall::parse(files.call.path(), text)?),
            None => None,
        };
        // The kernel takes long to print the other file, and it would say no more of one that runs.
        if let (Some(None), Some(seen)) = (call, &self.seen)
            && seen.has_its_name()
        {
            return Ok(Some(seen.running(clock)));
        }
        let Some(text) = files.stat.read(buffer)? else { return Ok(None) };
        let ProcessStat { comm, state, .. } = ProcessStat::parse(files.stat.path(), text, units)?;
        // The kernel says so of one that is waited for just now, too. Nothing comes after it.
        if state == GONE {
            return Ok(None);
        }
        let mut seen = Seen { comm, state, channel: None, call: None, clock };
        if matches!(state, SLEEPING | DISK) {
            seen.channel = channel(files.channel.read(buffer)?);
            seen.call = call.flatten();
            sleep_counts.add(&seen);
        }
        Ok(Some(seen))
    }
}

impl Open {
    fn new(dir: &Path) -> Self {
        Self {
            stat: ProcFile::record(dir.join("stat")),
            channel: ProcFile::record(dir.join("wchan")),
            call: ProcFile::record(dir.join("syscall")),
        }
    }
}

impl Seen {
    /// A thread begins with the name of its parent and gives itself its own when it first runs.
    fn has_its_name(&self) -> bool {
        self.clock.is_none_or(|clock| clock.on_cpu_ns >= NAMED_AFTER_NS)
    }

    fn running(&self, clock: Option<SchedStat>) -> Self {
        let comm = self.comm.clone();
        Self { comm, state: RUNNING, channel: None, call: None, clock }
    }

    fn gone(self) -> Self {
        Self { state: GONE, channel: None, call: None, ..self }
    }
}

impl SleepCounts {
    fn add(&mut self, seen: &Seen) {
        self.asleep += 1;
        self.channels += u64::from(seen.channel.is_some());
        self.calls += u64::from(seen.call.is_some());
    }
}

/// The kernel prints a zero for a thread that runs, and for one that it does not tell about.
fn channel(text: Option<&[u8]>) -> Option<String> {
    let name = String::from_utf8_lossy(text?.trim_ascii());
    (!name.is_empty() && name != "0").then(|| name.into_owned())
}
