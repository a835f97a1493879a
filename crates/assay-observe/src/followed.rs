//! One followed process: its open files and one sample of it. Most tasks of an engine sleep most of
//! the time, so a task is looked at only if the scheduler ran it since the last look. Of a process of
//! hundreds of tasks even asking each whether it ran costs much: see `Sparing`.

use crate::tasks::{DISK, RUNNING, Task, TaskCounts, TaskSet};
use crate::{ObserveError, ProcRoot, Units};
use assay_kernel::clock::ProcessClock;
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::{Io, ProcessStat, Statm};

/// A process that sleeps is looked at anew after this long: others can take its memory away.
const ASLEEP_MAX_NS: i64 = 1_000_000_000;

/// The processes of the laboratory itself have many threads, and nobody asks what they did within
/// this time.
const OURS_INTERVAL_NS: i64 = 500_000_000;
const OURS: &str = "probes";

/// All tasks are asked as soon as those that were lack so much of what their process used: the clock
/// of one that runs stands still for a tick.
const MISSING_NS_MAX: u64 = 10_000_000;
/// Fewer tasks than these are all asked whenever their process ran.
const SPARED_TASKS_MIN: usize = 64;

/// What every reading needs.
pub(crate) struct Reader {
    pub buffer: Buffer,
    pub units: Units,
    /// Whether block delays are counted by this kernel.
    pub block_delay: bool,
}

/// A process whose rows are written, and the account they are written under.
pub(crate) struct Followed {
    pub account: String,
    pid: u32,
    started_ns: Option<u64>,
    stat: ProcFile,
    statm: ProcFile,
    io: ProcFile,
    tasks: TaskSet,
    last: Option<ProcessSample>,
    look_due_ns: i64,
    sample_due_ns: i64,
    sparing: Option<Sparing>,
}

/// How tasks are asked seldom: by the clock of their process it is known, in one call, whether any of
/// them ran, and whether those that ran lately are all that did.
struct Sparing {
    clock: ProcessClock,
    used_ns: Option<u64>,
    ran: bool,
    /// What tasks lacked of it when all were asked: they ended unseen, or ran just then.
    missing_ns: u64,
}

/// One sample of one process.
pub(crate) struct ProcessSample {
    pub stat: ProcessStat,
    pub memory: Option<Statm>,
    pub io: Io,
    pub counts: TaskCounts,
    pub states: States,
}

/// Live tasks by what they do (gauges).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    pub running: u64,
    pub disk: u64,
}

impl Reader {
    pub fn new(root: &ProcRoot) -> Self {
        let block_delay = root.counts_block_delay();
        Self { buffer: Buffer::new(), units: Units::of_host(), block_delay }
    }
}

impl States {
    fn count(&mut self, state: char) {
        match state {
            RUNNING => self.running += 1,
            DISK => self.disk += 1,
            _ => {}
        }
    }
}

impl Followed {
    pub fn new(root: &ProcRoot, pid: u32, account: String) -> Self {
        let dir = root.process(pid);
        let stat = ProcFile::record(dir.join("stat"));
        let statm = ProcFile::record(dir.join("statm"));
        let io = ProcFile::record(dir.join("io"));
        let tasks = TaskSet::new(&dir);
        Self {
            account,
            pid,
            started_ns: None,
            stat,
            statm,
            io,
            tasks,
            last: None,
            look_due_ns: 0,
            sample_due_ns: 0,
            sparing: None,
        }
    }

    /// As `new`, for looks many times a second: among many tasks, state, delays and switches of one that
    /// slept and then ran little may be two seconds old. The time on a CPU is never older than the look.
    pub fn sparing(root: &ProcRoot, pid: u32, account: String) -> Self {
        let clock = root.is_of_host().then(|| ProcessClock::of(pid)).flatten();
        let sparing = clock.map(|clock| Sparing { clock, used_ns: None, ran: true, missing_ns: 0 });
        Self { sparing, ..Self::new(root, pid, account) }
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What the last sample saw; `None` before the first one and after the end.
    pub fn last(&self) -> Option<&ProcessSample> {
        self.last.as_ref()
    }

    /// Its live tasks, as last read.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks.live
    }

    /// Counters by task, of ended tasks and even of an ended process as last seen.
    pub fn counts(&self) -> TaskCounts {
        self.tasks.sum()
    }

    /// One sample; `None`: the process is gone, or another one has its number.
    pub fn sample(
        &mut self,
        time_ns: i64,
        reader: &mut Reader,
    ) -> Result<Option<&ProcessSample>, ObserveError> {
        if self.account == OURS && time_ns < self.sample_due_ns {
            return Ok(self.last.as_ref());
        }
        self.sample_due_ns = time_ns.saturating_add(OURS_INTERVAL_NS);
        self.read_clocks(time_ns, &mut reader.buffer)?;
        if self.is_asleep() && time_ns < self.look_due_ns {
            return Ok(self.last.as_ref());
        }
        self.look_due_ns = time_ns.saturating_add(ASLEEP_MAX_NS);
        self.last = self.look(time_ns, reader)?;
        Ok(self.last.as_ref())
    }

    fn read_clocks(&mut self, time_ns: i64, buffer: &mut Buffer) -> Result<(), ObserveError> {
        let Some(sparing) = &mut self.sparing else { return self.tasks.read_clocks(buffer) };
        let used_ns = sparing.clock.cpu_ns();
        sparing.ran = used_ns.is_none() || used_ns != sparing.used_ns;
        sparing.used_ns = used_ns;
        if !sparing.ran {
            return Ok(());
        }
        let Some(used_ns) = used_ns.filter(|_| self.tasks.live.len() >= SPARED_TASKS_MIN) else {
            return self.tasks.read_clocks(buffer);
        };
        let missing_ns = |tasks: &TaskSet| used_ns.saturating_sub(tasks.sum().clock.on_cpu_ns);
        self.tasks.read_due_clocks(time_ns, buffer)?;
        if missing_ns(&self.tasks) > sparing.missing_ns + MISSING_NS_MAX {
            self.tasks.read_all_clocks(time_ns, buffer)?;
            sparing.missing_ns = missing_ns(&self.tasks);
        }
        Ok(())
    }

    /// Whether no task ran since the last look. Then no counter changed either, and none of them
    /// started a task.
    fn is_asleep(&self) -> bool {
        let tasks = &self.tasks.live;
        if self.sparing.as_ref().is_some_and(|sparing| sparing.ran) {
            return false;
        }
        let all_there =
            self.last.as_ref().is_some_and(|last| last.stat.threads == tasks.len() as u64);
        all_there && !tasks.iter().any(Task::may_have_changed)
    }

    fn look(
        &mut self,
        time_ns: i64,
        reader: &mut Reader,
    ) -> Result<Option<ProcessSample>, ObserveError> {
        let Some(text) = self.stat.read(&mut reader.buffer)? else { return Ok(None) };
        let stat = ProcessStat::parse(self.stat.path(), text, &reader.units)?;
        if *self.started_ns.get_or_insert(stat.started_ns) != stat.started_ns {
            return Ok(None);
        }
        let states = self.look_at_tasks(time_ns, reader, &stat)?;
        let memory = match self.statm.read(&mut reader.buffer)? {
            Some(text) => Some(Statm::parse(self.statm.path(), text, &reader.units)?),
            None => None,
        };
        let io = match self.io.read(&mut reader.buffer)? {
            Some(text) => Some(Io::parse(self.io.path(), text)?),
            None => None,
        };
        // One that ended just now has no such file any more, which is no absence of its counters.
        if io.is_none() && self.stat.read(&mut reader.buffer)?.is_none() {
            return Ok(None);
        }
        let io = io.unwrap_or_default();
        Ok(Some(ProcessSample { stat, memory, io, counts: self.all_counts(), states }))
    }

    /// Counters by task, and of all of them the time on a CPU by the clock of their process.
    fn all_counts(&self) -> TaskCounts {
        let mut counts = self.tasks.sum();
        let used_ns = self.sparing.as_ref().and_then(|sparing| sparing.used_ns);
        counts.clock.on_cpu_ns = used_ns.unwrap_or_default().max(counts.clock.on_cpu_ns);
        counts
    }

    /// Lists the tasks only when their number or one of them is gone: a new one changes the
    /// number, and one that ended cannot be read.
    fn look_at_tasks(
        &mut self,
        time_ns: i64,
        reader: &mut Reader,
        process: &ProcessStat,
    ) -> Result<States, ObserveError> {
        let is_sparing = self.sparing.is_some();
        if self.tasks.live.len() as u64 != process.threads {
            self.tasks.list()?;
            if is_sparing {
                self.tasks.read_new_clocks(time_ns, &mut reader.buffer)?;
            } else {
                self.tasks.read_clocks(&mut reader.buffer)?;
            }
        }
        let mut states = States::default();
        for task in &mut self.tasks.live {
            // The process's own file has the state and the delay of its first task.
            let own = (task.tid == self.pid).then_some((process.state, process.block_delay_ns));
            if task.may_have_changed() {
                if is_sparing {
                    task.read_switches_when_due(time_ns, &mut reader.buffer)?;
                } else {
                    task.read_switches(&mut reader.buffer)?;
                }
                look_at_task(task, own, reader)?;
            }
            states.count(task.state());
        }
        Ok(states)
    }
}

fn look_at_task(
    task: &mut Task,
    stat: Option<(char, Option<u64>)>,
    reader: &mut Reader,
) -> Result<(), ObserveError> {
    let seen = match stat {
        Some(stat) => Some(stat),
        None => task
            .read_stat(&mut reader.buffer, &reader.units)?
            .map(|stat| (stat.state, stat.block_delay_ns)),
    };
    // A task that ended meanwhile is dropped when its clock is read next.
    if let Some((state, block_delay_ns)) = seen {
        task.looked_at(state);
        task.counts.block_delay_ns = block_delay_ns.filter(|_| reader.block_delay);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use assay_kernel::clock::thread_cpu_ns;

    const MS_NS: i64 = 1_000_000;
    const WORKED_NS: u64 = 60_000_000;
    const SLEPT_NS: i64 = 2_000 * MS_NS;

    fn work() {
        let begun_ns = thread_cpu_ns();
        while thread_cpu_ns() - begun_ns < WORKED_NS {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn among_many_tasks_one_that_slept_is_found_as_soon_as_it_works() {
        let (ready, readies) = channel();
        let (rest, resting) = channel::<()>();
        let (work_now, works) = channel();
        let (ended, done) = channel();
        let worker = std::thread::spawn(move || {
            ready.send(rustix::thread::gettid().as_raw_pid() as u32).unwrap();
            works.recv().unwrap();
            work();
            ended.send(()).unwrap();
            let _ = resting.recv();
        });
        let sleepers: Vec<_> =
            (0..SPARED_TASKS_MIN).map(|_| std::thread::spawn(std::thread::park)).collect();
        let tid = readies.recv().unwrap();
        let root = ProcRoot::default();
        let mut reader = Reader::new(&root);
        let mut process = Followed::sparing(&root, std::process::id(), String::new());
        let task_of =
            |process: &Followed| process.tasks().iter().position(|task| task.tid == tid).unwrap();
        // The threads sleep, so their clocks are read less and less often. The work of other tests in
        // this process makes a sample read all clocks, which changes when a clock is due next.
        let mut time_ns = 0;
        loop {
            work_a_little();
            process.sample(time_ns, &mut reader).unwrap().unwrap();
            time_ns += 100 * MS_NS;
            let left = |task: &&Task| !task.is_due(time_ns);
            let left_count = process.tasks().iter().filter(left).count();
            let is_left = left(&&process.tasks()[task_of(&process)]);
            if time_ns >= SLEPT_NS && is_left && left_count >= SPARED_TASKS_MIN / 2 {
                break;
            }
            assert!(time_ns < 10 * SLEPT_NS, "only {left_count} tasks are left for later");
        }
        let clock_ns =
            |process: &Followed| process.tasks()[task_of(process)].counts.clock.on_cpu_ns;
        let before_ns = clock_ns(&process);
        work_now.send(()).unwrap();
        done.recv().unwrap();
        let counts = process.sample(time_ns, &mut reader).unwrap().unwrap().counts;
        let after_ns = clock_ns(&process);
        assert!(after_ns - before_ns >= WORKED_NS, "{before_ns} then {after_ns}");
        assert!(counts.clock.on_cpu_ns >= process.counts().clock.on_cpu_ns);
        drop(rest);
        worker.join().unwrap();
        for sleeper in sleepers {
            sleeper.thread().unpark();
            sleeper.join().unwrap();
        }
    }

    /// So that the process has run since the last look.
    fn work_a_little() {
        let begun_ns = thread_cpu_ns();
        while thread_cpu_ns() - begun_ns < 10_000 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn what_is_no_process_of_this_host_is_asked_by_its_files_alone() {
        let elsewhere = ProcRoot("/nowhere".into());
        assert!(Followed::sparing(&elsewhere, 1, String::new()).sparing.is_none());
        assert!(Followed::sparing(&ProcRoot::default(), 1, String::new()).sparing.is_some());
    }
}
