//! From processes to events: what the kernel grants here, and a ring for each processor.
//!
//! Where all processes may be watched, one event a processor does it. Else every thread gets an
//! event for each processor, which goes on to the threads that it makes; what was born while we
//! looked is looked for again until there is nothing new.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_kernel::ProcRoot;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::elf::Elf;
use crate::frame_pointers::has_frame_pointers;
use crate::perf::{Attr, Event, Record, Ring, Rings, Stacks};
use crate::{ProfileError, family};

/// How much of a stack is copied: all of it, as a rule, below an executor's recursion.
const COPIED_BYTES: u32 = 16 << 10;
/// Looks at the rings may be so far apart before something is lost.
const RING_SECONDS: f64 = 0.5;
/// A sample without a copy of its stack: registers, and a chain of callers.
const CHAIN_BYTES: u32 = 512;
const RING_BYTES_MAX: usize = 32 << 20;
const RING_BYTES_MIN: usize = 64 << 10;
/// How often new threads are looked for before we take it that there always are some.
const ROUNDS_MAX: usize = 50;
/// A thread shows in /proc a moment before the kernel's record of its birth is written.
const BIRTH_DELAY: Duration = Duration::from_millis(2);

/// What is asked for, and what may be left out if the kernel does not grant it.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The processes; with all their descendants.
    pub pids: Vec<u32>,
    /// Samples a second of CPU time.
    pub frequency_hz: u32,
    /// How stacks are taken; `None`: by frame pointers where the engine's binary keeps them, else
    /// by copies.
    pub stacks: Option<Stacks>,
    /// Whether other processes may be watched, too, and thrown away: cheaper where switches are
    /// many, and exact for threads that live shorter than a period.
    pub may_watch_all: bool,
    /// Whether time in the kernel is wanted.
    pub kernel: bool,
}

/// What the kernel granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The event.
    pub attr: Attr,
    /// Whether all processes are watched.
    pub whole_machine: bool,
}

/// Events at work.
pub struct Attached {
    /// Their records.
    pub rings: Rings,
    /// What they are.
    pub granted: Granted,
    /// Processes that are watched, so far.
    pub family: HashSet<u32>,
    /// Events that write into the ring of another one.
    others: Vec<Event>,
    /// The processors that have rings.
    pub processors: Vec<u32>,
}

impl Attached {
    /// Opens and starts what the kernel grants of a wish.
    pub fn to(wish: &Wish) -> Result<Self, ProfileError> {
        let processors = processors()?;
        let root = *wish.pids.first().ok_or(ProfileError::NoProcess(0))?;
        let granted = granted(wish, root, &processors)?;
        let copies = matches!(granted.attr.stacks, Stacks::Copies(_));
        if granted.whole_machine {
            let rings = started(rings(granted.attr, -1, &processors)?, copies)?;
            let family = family::family(&ProcRoot::default(), &wish.pids).into_iter().collect();
            return Ok(Self { rings, granted, family, others: Vec::new(), processors });
        }
        allow_many_files();
        let rings = started(rings(granted.attr, root as i32, &processors)?, copies)?;
        let family = HashSet::new();
        let mut attached = Self { rings, granted, family, others: Vec::new(), processors };
        attached.cover(&wish.pids, root)?;
        Ok(attached)
    }

    /// Ends sampling; what is in the rings can still be read.
    pub fn stop(&self) {
        for event in self.rings.events().chain(&self.others) {
            // A thread that ended took its event with it.
            let _ = event.disable();
        }
    }

    /// How many records found no room so far, as the kernel counts them by event. A record in a
    /// ring says so only if another one found room after it. 0 where the kernel does not count.
    pub fn lost(&self) -> u64 {
        self.rings.events().chain(&self.others).filter_map(Event::lost).sum()
    }

    /// Every thread of the family that has no event yet gets one, until there is none.
    fn cover(&mut self, pids: &[u32], root: u32) -> Result<(), ProfileError> {
        let proc_root = &ProcRoot::default();
        let mut covered = HashSet::from([root]);
        for _ in 0..ROUNDS_MAX {
            self.family = family::family(proc_root, pids).into_iter().collect();
            let threads = self.family.iter().flat_map(|pid| family::threads(proc_root, *pid));
            let threads: Vec<u32> = threads.collect();
            if threads.iter().all(|tid| covered.contains(tid)) {
                return Ok(());
            }
            std::thread::sleep(BIRTH_DELAY);
            self.note_births(&mut covered);
            for tid in threads {
                if covered.insert(tid) {
                    self.add(tid)?;
                }
            }
        }
        Ok(())
    }

    /// Threads that threads of ours made have inherited the event.
    fn note_births(&mut self, covered: &mut HashSet<u32>) {
        self.rings.drain(i64::MAX, |record| {
            if let Record::Born { tid, .. } = record {
                covered.insert(tid);
            }
        });
    }

    /// Events of a thread for all processors. They start together: what the thread makes before
    /// that has none, or all.
    fn add(&mut self, tid: u32) -> Result<(), ProfileError> {
        let mut opened = Vec::with_capacity(self.processors.len());
        for (cpu, ring) in self.processors.iter().zip(self.rings.events()) {
            let event = match Event::open(self.granted.attr, tid as i32, *cpu) {
                Ok(event) => event,
                // It ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(()),
                Err(error) => return Err(refused(error)),
            };
            event.write_to(ring).map_err(refused)?;
            opened.push(event);
        }
        for event in &opened {
            event.enable().map_err(refused)?;
        }
        self.others.extend(opened);
        Ok(())
    }
}

/// One ring a processor, each over the event of one thread, or of all. They are as large as all of
/// them can be: what the kernel lets a user lock is for all together.
fn rings(attr: Attr, tid: i32, processors: &[u32]) -> Result<Vec<Ring>, ProfileError> {
    let mut room = fitting_room(attr);
    loop {
        let ring = |cpu: &u32| Ring::map(Event::open(attr, tid, *cpu)?, room);
        let rings: io::Result<Vec<Ring>> = processors.iter().map(ring).collect();
        match rings {
            Err(error) if is_for_want_of_room(&error) && room > RING_BYTES_MIN => room /= 2,
            Err(error) if is_for_want_of_room(&error) => return Err(no_room(error)),
            rings => return rings.map_err(refused),
        }
    }
}

fn started(rings: Vec<Ring>, copies: bool) -> Result<Rings, ProfileError> {
    let rings = Rings::new(rings, copies);
    for event in rings.events() {
        event.enable().map_err(refused)?;
    }
    Ok(rings)
}

/// A ring is a power of two of pages.
fn fitting_room(attr: Attr) -> usize {
    let copied = match attr.stacks {
        Stacks::Copies(bytes) => bytes,
        Stacks::FramePointers => 0,
    };
    let bytes = f64::from(attr.frequency_hz) * f64::from(copied + CHAIN_BYTES) * RING_SECONDS;
    (bytes as usize).next_power_of_two().clamp(RING_BYTES_MIN, RING_BYTES_MAX)
}

/// A thread has an open file for each processor; as many are allowed as may be without asking.
fn allow_many_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused, the refusal of the file that is one too many says what to do.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn no_room(source: io::Error) -> ProfileError {
    let mend = "no room for the rings that samples are written into; `sudo sysctl \
                kernel.perf_event_mlock_kb=8192` or a larger `ulimit -l` allows more";
    ProfileError::Refused { source, mend: mend.to_owned() }
}

/// What the kernel says where a user may not lock so much memory, or there is none.
pub fn is_for_want_of_room(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM))
}

/// The most that the kernel grants, by trying, on every processor.
fn granted(wish: &Wish, root: u32, processors: &[u32]) -> Result<Granted, ProfileError> {
    let stacks = wish.stacks.unwrap_or_else(|| fitting_stacks(root));
    let frequency_hz = wish.frequency_hz;
    let mut last = io::Error::from_raw_os_error(libc::EACCES);
    let with_kernel: &[bool] = if wish.kernel { &[true, false] } else { &[false] };
    let whole: &[bool] = if wish.may_watch_all { &[true, false] } else { &[false] };
    for whole_machine in whole {
        for kernel in with_kernel {
            let attr = Attr { frequency_hz, stacks, kernel: *kernel, inherit: !whole_machine };
            let tid = if *whole_machine { -1 } else { root as i32 };
            match processors.iter().try_for_each(|cpu| Event::open(attr, tid, *cpu).map(drop)) {
                Ok(()) => return Ok(Granted { attr, whole_machine: *whole_machine }),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {
                    return Err(ProfileError::NoProcess(root));
                }
                Err(error) => last = error,
            }
        }
    }
    Err(refused(last))
}

/// By the largest code that the process has mapped: the engine's own.
fn fitting_stacks(pid: u32) -> Stacks {
    let proc_root = &ProcRoot::default();
    let mappings = family::mappings(proc_root, pid);
    let files = mappings.iter().filter(|mapping| mapping.path.starts_with('/'));
    let largest = files.max_by_key(|mapping| mapping.length);
    let elf = largest.and_then(|mapping| {
        let inside = family::file_root(proc_root, pid).join(mapping.path.trim_start_matches('/'));
        Elf::read(&inside).or_else(|| Elf::read(Path::new(&mapping.path)))
    });
    match elf {
        Some(elf) if has_frame_pointers(&elf) => Stacks::FramePointers,
        _ => Stacks::Copies(COPIED_BYTES),
    }
}

/// What the kernel said, with what a person can do.
fn refused(source: io::Error) -> ProfileError {
    let level = of_kernel("perf_event_paranoid");
    let mend = match source.raw_os_error() {
        Some(libc::ENOSYS) => "this kernel is built without performance events".to_owned(),
        Some(libc::EINVAL) => format!(
            "the rate may be above kernel.perf_event_max_sample_rate, which is {}: sample less often",
            of_kernel("perf_event_max_sample_rate")
        ),
        Some(libc::EMFILE) => "too many open files; `ulimit -n` allows more".to_owned(),
        _ => format!(
            "kernel.perf_event_paranoid is {level}; `sudo sysctl kernel.perf_event_paranoid=2` \
             allows samples of our own processes, 0 of all with their time in the kernel. A \
             container needs perf_event_open in its seccomp profile, or CAP_PERFMON."
        ),
    };
    ProfileError::Refused { source, mend }
}

fn of_kernel(name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    text.map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The processors that are on line.
pub fn processors() -> Result<Vec<u32>, ProfileError> {
    let path = PathBuf::from("/sys/devices/system/cpu/online");
    let text =
        std::fs::read_to_string(&path).map_err(|source| ProfileError::Io { path, source })?;
    let processors: Vec<u32> = text.trim().split(',').filter_map(range).flatten().collect();
    Ok(if processors.is_empty() { vec![0] } else { processors })
}

fn range(text: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
impl Attached {
    /// Events of one thread, whose rings have room for a few samples.
    pub fn narrow(tid: u32) -> Self {
        let stacks = Stacks::Copies(1024);
        let attr = Attr { frequency_hz: 4_999, stacks, kernel: false, inherit: true };
        let processors = processors().unwrap();
        let ring =
            |cpu: &u32| Ring::map(Event::open(attr, tid as i32, *cpu).unwrap(), 4096).unwrap();
        let rings = started(processors.iter().map(ring).collect(), true).unwrap();
        let granted = Granted { attr, whole_machine: false };
        Self { rings, granted, family: HashSet::new(), others: Vec::new(), processors }
    }
}
