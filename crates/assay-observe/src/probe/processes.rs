//! The followed processes and their descendants, one row a process.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::Cell;

use super::{Probe, state_name};
use crate::descent::Descent;
use crate::followed::{Followed, ProcessSample, Reader};
use crate::pss::Pss;
use crate::title::Title;
use crate::{ObserveError, ProcRoot, tables};
use assay_kernel::clock::thread_cpu_ns;
use assay_record::Stream;

/// Proportional memory is read in at most one part of the time in this many.
const PSS_PARTS: i64 = 1000;

/// Reads the files of each followed process.
pub(crate) struct ProcessesProbe {
    root: ProcRoot,
    followed: BTreeMap<u32, (Followed, Title)>,
    descent: Descent,
    reader: Reader,
    pss: Pss,
    pss_cpu_ns: u64,
    streams: [Stream; 1],
}

impl ProcessesProbe {
    pub fn new(
        root: ProcRoot,
        raw_dir: &Path,
        processes: Vec<(u32, String)>,
    ) -> Result<Self, ObserveError> {
        let mut probe = Self {
            followed: BTreeMap::new(),
            descent: Descent::new(root.clone()),
            reader: Reader::new(&root),
            pss: Pss::new(root.clone(), PSS_PARTS),
            pss_cpu_ns: 0,
            streams: [Stream::create(raw_dir, &tables::PROCESSES)?],
            root,
        };
        for (pid, account) in processes {
            probe.follow(pid, account)?;
        }
        Ok(probe)
    }

    fn find_descendants(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        let followed = &self.followed;
        let account_of = |pid| followed.get(&pid).map(|(process, _)| process.account.clone());
        let descendants = self.descent.scan(time_ns, account_of, &mut self.reader)?;
        for (pid, account) in descendants {
            self.insert(pid, account);
        }
        Ok(())
    }

    fn insert(&mut self, pid: u32, account: String) {
        let process = Followed::sparing(&self.root, pid, account);
        self.followed.insert(pid, (process, Title::new(&self.root, pid)));
    }
}

impl Probe for ProcessesProbe {
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        self.find_descendants(time_ns)?;
        let mut gone = Vec::new();
        let with_pss = self.pss.begin();
        for (pid, (process, title)) in &mut self.followed {
            let account = process.account.clone();
            let title = title.read(time_ns, &mut self.reader.buffer)?;
            match process.sample(time_ns, &mut self.reader)? {
                Some(sample) => {
                    let pss_bytes = if with_pss {
                        let begun_ns = thread_cpu_ns();
                        let bytes = self.pss.of(*pid, &mut self.reader.buffer)?;
                        self.pss_cpu_ns += thread_cpu_ns().saturating_sub(begun_ns);
                        bytes
                    } else {
                        None
                    };
                    let names = (account.as_str(), title);
                    self.streams[0].push(&cells(time_ns, *pid, names, sample, pss_bytes));
                }
                None => gone.push(*pid),
            }
        }
        if with_pss {
            self.pss.end();
        }
        for pid in gone {
            self.followed.remove(&pid);
        }
        Ok(())
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut self.streams
    }

    /// Proportional memory pays for itself.
    fn apart_ns(&self) -> u64 {
        self.pss_cpu_ns
    }

    /// A process that is followed already, or as a descendant, changes its account from now on.
    fn follow(&mut self, pid: u32, account: String) -> Result<(), ObserveError> {
        if let Some((process, _)) = self.followed.get_mut(&pid) {
            process.account = account;
        } else {
            self.insert(pid, account);
        }
        self.descent.restart();
        Ok(())
    }
}

fn cells<'a>(
    time_ns: i64,
    pid: u32,
    (account, title): (&'a str, Option<&'a str>),
    sample: &'a ProcessSample,
    pss_bytes: Option<u64>,
) -> [Cell<'a>; 29] {
    let ProcessSample { stat, memory, io, counts, states } = sample;
    let scheduler = counts.scheduler();
    [
        Cell::Int(time_ns),
        Cell::Count(u64::from(pid)),
        Cell::Count(u64::from(stat.ppid)),
        Cell::Count(stat.started_ns),
        Cell::Text(account),
        Cell::Text(&stat.comm),
        Cell::Text(state_name(stat.state)),
        Cell::Count(stat.user_ns),
        Cell::Count(stat.system_ns),
        scheduler.map(|clock| clock.on_cpu_ns).into(),
        scheduler.map(|clock| clock.run_delay_ns).into(),
        scheduler.map(|clock| clock.timeslices).into(),
        counts.block_delay_ns.into(),
        io.read_bytes.into(),
        io.write_bytes.into(),
        Cell::Count(stat.minor_faults),
        Cell::Count(stat.major_faults),
        counts.voluntary_switches.into(),
        counts.involuntary_switches.into(),
        Cell::Count(stat.threads),
        Cell::Count(states.running),
        Cell::Count(states.disk),
        Cell::Count(stat.rss_bytes),
        io.cancelled_write_bytes.into(),
        Cell::Count(stat.children_user_ns),
        Cell::Count(stat.children_system_ns),
        memory.map(|memory| memory.shared_bytes).into(),
        title.map_or(Cell::Null, Cell::Text),
        pss_bytes.into(),
    ]
}
