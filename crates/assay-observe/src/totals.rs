//! Counters of a tree of processes as one, which never go backwards.
//!
//! The identity: a child that ended and was waited for has its CPU time and faults in its parent's
//! counters of children, and its bytes in its parent's own. So the sum over live processes of both
//! is that of all processes that ever were. Only a child for which nobody in the tree waited takes
//! its counts away; they are kept as last seen.

use assay_model::TaskCounters;

use crate::followed::ProcessSample;
use crate::tasks::TaskCounts;
use assay_kernel::parse::Statm;

/// A sum that goes on from where it was when a part of it is taken away.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grown {
    shown: u64,
    lost: u64,
}

/// The sums as last told.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    user: Grown,
    system: Grown,
    minor_faults: Grown,
    major_faults: Grown,
    read_bytes: Grown,
    write_bytes: Grown,
    on_cpu_ns: u64,
}

impl Grown {
    pub fn next(&mut self, sum: u64) -> u64 {
        self.lost = self.lost.max(self.shown.saturating_sub(sum));
        self.shown = sum.saturating_add(self.lost);
        self.shown
    }
}

impl Totals {
    /// Fills in the sums over `live`, and over `ended` what the kernel keeps by task only. Nothing
    /// is filled in for a tree without processes.
    pub fn fill(
        &mut self,
        counters: &mut TaskCounters,
        live: &[&ProcessSample],
        ended: &TaskCounts,
    ) {
        if live.is_empty() {
            return;
        }
        let sum = |count: fn(&ProcessSample) -> u64| live.iter().map(|sample| count(sample)).sum();
        let stat = |next: &mut Grown, count| Some(next.next(sum(count)));
        counters.user_ns = stat(&mut self.user, |s| s.stat.user_ns + s.stat.children_user_ns);
        counters.system_ns =
            stat(&mut self.system, |s| s.stat.system_ns + s.stat.children_system_ns);
        counters.minor_faults =
            stat(&mut self.minor_faults, |s| s.stat.minor_faults + s.stat.children_minor_faults);
        counters.major_faults =
            stat(&mut self.major_faults, |s| s.stat.major_faults + s.stat.children_major_faults);
        counters.read_bytes =
            whole_sum(live, |s| s.io.read_bytes).map(|sum| self.read_bytes.next(sum));
        counters.write_bytes =
            whole_sum(live, |s| s.io.write_bytes).map(|sum| self.write_bytes.next(sum));
        counters.threads = Some(sum(|s| s.stat.threads));
        counters.rss_bytes = rss_bytes(live);
        self.fill_by_task(counters, live, ended);
    }

    fn fill_by_task(
        &mut self,
        counters: &mut TaskCounters,
        live: &[&ProcessSample],
        ended: &TaskCounts,
    ) {
        let mut alive = TaskCounts::default();
        for sample in live {
            alive.add(&sample.counts);
        }
        let mut all = alive;
        all.add(ended);
        counters.on_cpu_ns = all.scheduler().map(|_| {
            // Of ended ones the kernel keeps ticks, so this may lack what a tick does not show.
            let lost_ns = self.user.lost + self.system.lost;
            let sum_ns = alive.clock.on_cpu_ns + children_ns(live.iter().copied()) + lost_ns;
            self.on_cpu_ns = self.on_cpu_ns.max(sum_ns);
            self.on_cpu_ns
        });
        counters.run_delay_ns = all.scheduler().map(|clock| clock.run_delay_ns);
        counters.block_delay_ns = all.block_delay_ns;
        counters.voluntary_switches = all.voluntary_switches;
        counters.involuntary_switches = all.involuntary_switches;
    }
}

/// CPU time of children that ended and were waited for, in ticks of the kernel.
pub(crate) fn children_ns<'a>(live: impl Iterator<Item = &'a ProcessSample>) -> u64 {
    live.map(|sample| sample.stat.children_user_ns + sample.stat.children_system_ns).sum()
}

/// Absent if one of them does not tell.
pub(crate) fn whole_sum(
    live: &[&ProcessSample],
    count: fn(&ProcessSample) -> Option<u64>,
) -> Option<u64> {
    live.iter().map(|sample| count(sample)).sum()
}

/// Shared memory is resident in each process that touched it; it is counted once, as the largest
/// shared part of one of them. That is the least it can be.
fn rss_bytes(live: &[&ProcessSample]) -> Option<u64> {
    let memory: Vec<Statm> = live.iter().map(|sample| sample.memory).collect::<Option<_>>()?;
    let private_bytes: u64 = memory.iter().map(Statm::private_bytes).sum();
    let shared_bytes = memory.iter().map(|memory| memory.shared_bytes).max()?;
    Some(private_bytes + shared_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::followed::States;
    use assay_kernel::parse::{Io, ProcessStat, SchedStat};

    const TICK_NS: u64 = 10_000_000;

    /// What may happen to a tree; processes are named by their place among the live ones.
    #[derive(Clone, Copy, Debug)]
    enum Deed {
        Work(usize, u64),
        Fork(usize),
        EndWaitedFor(usize),
        EndUnwaitedFor(usize),
    }

    /// One process as the kernel knows it, in nanoseconds.
    #[derive(Clone, Copy, Debug, Default)]
    struct Process {
        parent: usize,
        own_ns: u64,
        children_ns: u64,
        read_bytes: u64,
    }

    fn printed(process: &Process) -> ProcessSample {
        let in_ticks = |ns: u64| ns / TICK_NS * TICK_NS;
        let stat = ProcessStat {
            user_ns: in_ticks(process.own_ns),
            children_user_ns: in_ticks(process.children_ns),
            minor_faults: process.own_ns,
            children_minor_faults: process.children_ns,
            threads: 1,
            ..ProcessStat::default()
        };
        let clock = SchedStat { on_cpu_ns: process.own_ns, timeslices: 1, ..SchedStat::default() };
        ProcessSample {
            stat,
            memory: None,
            io: Io { read_bytes: Some(process.read_bytes), ..Io::default() },
            counts: TaskCounts { clock, ..TaskCounts::default() },
            states: States::default(),
        }
    }

    /// Ends a process; what it had goes to its parent if that waits. Its children go to the root.
    fn end(tree: &mut Vec<Process>, place: usize, waited_for: bool) -> u64 {
        if place == 0 {
            return 0;
        }
        let gone = tree.remove(place);
        let moved = |parent: usize| match parent {
            parent if parent == place => 0,
            parent if parent > place => parent - 1,
            parent => parent,
        };
        for process in tree.iter_mut() {
            process.parent = moved(process.parent);
        }
        if !waited_for {
            return gone.own_ns + gone.children_ns;
        }
        let parent = &mut tree[moved(gone.parent)];
        parent.children_ns += gone.own_ns + gone.children_ns;
        parent.read_bytes += gone.read_bytes;
        0
    }

    /// Plays one deed; returns the time that nobody has any more.
    fn play(tree: &mut Vec<Process>, deed: Deed) -> u64 {
        let live = tree.len();
        match deed {
            Deed::Work(place, ns) => {
                tree[place % live].own_ns += ns;
                tree[place % live].read_bytes += ns;
            }
            Deed::Fork(place) => {
                tree.push(Process { parent: place % live, ..Process::default() });
            }
            Deed::EndWaitedFor(place) => return end(tree, place % live, true),
            Deed::EndUnwaitedFor(place) => return end(tree, place % live, false),
        }
        0
    }

    fn filled_counters(totals: &mut Totals, tree: &[Process]) -> TaskCounters {
        let samples: Vec<ProcessSample> = tree.iter().map(printed).collect();
        let live: Vec<&ProcessSample> = samples.iter().collect();
        let mut counters = TaskCounters::default();
        totals.fill(&mut counters, &live, &TaskCounts::default());
        counters
    }

    fn deeds(with_unwaited_for: bool) -> impl Strategy<Value = Vec<Vec<Deed>>> {
        let place = 0..64_usize;
        let deed = prop_oneof![
            3 => (place.clone(), 0..3 * TICK_NS).prop_map(|(place, ns)| Deed::Work(place, ns)),
            2 => place.clone().prop_map(Deed::Fork),
            1 => place.clone().prop_map(Deed::EndWaitedFor),
            u32::from(with_unwaited_for) => place.prop_map(Deed::EndUnwaitedFor),
        ];
        vec(vec(deed, 0..12), 1..30)
    }

    fn growing(counters: &TaskCounters) -> [Option<u64>; 4] {
        [counters.user_ns, counters.on_cpu_ns, counters.minor_faults, counters.read_bytes]
    }

    proptest! {
        #[test]
        fn never_backwards_whoever_ends_between_readings(rounds in deeds(true)) {
            let (mut totals, mut tree) = (Totals::default(), vec![Process::default()]);
            let mut before = filled_counters(&mut totals, &tree);
            for round in rounds {
                for deed in round {
                    play(&mut tree, deed);
                }
                let after = filled_counters(&mut totals, &tree);
                for (before, after) in growing(&before).into_iter().zip(growing(&after)) {
                    prop_assert!(before <= after, "{before:?} then {after:?}");
                }
                before = after;
            }
        }

        #[test]
        fn nothing_is_lost_where_parents_wait(rounds in deeds(false)) {
            let (mut totals, mut tree) = (Totals::default(), vec![Process::default()]);
            let mut worked_ns = 0;
            for deed in rounds.into_iter().flatten() {
                worked_ns += if let Deed::Work(_, ns) = deed { ns } else { 0 };
                play(&mut tree, deed);
                let counters = filled_counters(&mut totals, &tree);
                prop_assert_eq!(counters.minor_faults, Some(worked_ns));
                prop_assert_eq!(counters.read_bytes, Some(worked_ns));
                // One tick of each live process, and one of the children of each.
                let unseen_ns = 2 * TICK_NS * tree.len() as u64;
                let user_ns = counters.user_ns.unwrap();
                prop_assert!(user_ns <= worked_ns && worked_ns <= user_ns + unseen_ns);
                let on_cpu_ns = counters.on_cpu_ns.unwrap();
                prop_assert!(on_cpu_ns <= worked_ns && worked_ns <= on_cpu_ns + unseen_ns);
            }
        }
    }

    #[test]
    fn shared_memory_is_counted_once() {
        let with = |rss_bytes, shared_bytes| ProcessSample {
            memory: Some(Statm { rss_bytes, shared_bytes }),
            ..printed(&Process::default())
        };
        let (small, large) = (with(110, 100), with(420, 400));
        assert_eq!(rss_bytes(&[&small, &large]), Some(10 + 20 + 400));
        assert_eq!(rss_bytes(&[&small, &printed(&Process::default())]), None);
    }

    #[test]
    fn one_that_does_not_tell_makes_the_sum_absent() {
        let complete = printed(&Process { read_bytes: 7, ..Process::default() });
        let silent = ProcessSample { io: Io::default(), ..printed(&Process::default()) };
        assert_eq!(whole_sum(&[&complete], |sample| sample.io.read_bytes), Some(7));
        assert_eq!(whole_sum(&[&complete, &silent], |sample| sample.io.read_bytes), None);
    }
}
