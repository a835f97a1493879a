//! The server meter on real trees of processes. A tree's root is this program, asked for the
//! ignored test below; what its children used is told by its own `getrusage(RUSAGE_CHILDREN)`.

mod common;

use std::hint::black_box;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use assay_kernel::usage::{Usage, UsageOf};
use assay_model::{Edge, Meter, TaskCounters};
use assay_observe::{ServerMeter, Units};

/// Set for processes of a tree only, so that `--include-ignored` does not wait for an input.
const TREE_MARK: &str = "ASSAY_TEST_TREE";
const BURN: &str = "burn";
const HOLD: &str = "hold";
const WRITE: &str = "write";
/// The kernel counts whole pages, and those of the file's own description, too.
const WRITTEN_BYTES: u64 = 8 * 1024 * 1024;
const REPORT_PREFIX: &str = "children used us: ";

fn cpu_us(usage: &Usage) -> u64 {
    usage.cpu_ns() / 1_000
}

fn this_program(mark: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "a_process_of_the_tree", "--nocapture"])
        .env(TREE_MARK, mark);
    command
}

/// `burn MS`: a child that burns so much CPU time and ends. `write FILE`: one that writes a file and
/// ends. `hold`: one that lives on.
#[test]
#[ignore = "not a test: the processes of the others"]
fn a_process_of_the_tree() {
    let Ok(mark) = std::env::var(TREE_MARK) else { return };
    if let Ok(burn_ms) = mark.parse::<u64>() {
        while cpu_us(&Usage::of(UsageOf::Process)) < burn_ms * 1_000 {
            black_box(0);
        }
        return;
    }
    if let Some(path) = mark.strip_prefix(WRITE) {
        std::fs::write(path, vec![7_u8; WRITTEN_BYTES as usize]).unwrap();
        return;
    }
    let mut held = Vec::new();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some((BURN, burn_ms)) => {
                let child = this_program(burn_ms).stdout(Stdio::null()).spawn();
                child.unwrap().wait().unwrap();
            }
            Some((WRITE, path)) => {
                let child = this_program(&format!("{WRITE}{path}")).stdout(Stdio::null()).spawn();
                child.unwrap().wait().unwrap();
            }
            _ => held.push(Command::new("sleep").arg("600").spawn().unwrap()),
        }
        println!("{REPORT_PREFIX}{}", cpu_us(&Usage::of(UsageOf::Children)));
    }
    for mut child in held {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// A server: a root that does as it is told.
struct Tree {
    root: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Tree {
    fn start() -> Self {
        let mut root = this_program("root");
        let mut root = root.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(root.stdout.take().unwrap()).lines();
        let mut tree = Self { root, lines };
        // Once it has told something, it has started.
        tree.tell(&format!("{BURN} 0"));
        tree
    }

    /// Has the root do something; returns the CPU time of all children that it waited for, in
    /// microseconds.
    fn tell(&mut self, order: &str) -> u64 {
        writeln!(self.root.stdin.as_mut().unwrap(), "{order}").unwrap();
        let mut output = self.lines.by_ref().map_while(Result::ok);
        let line = output.find(|line| line.contains(REPORT_PREFIX)).unwrap();
        line.split(REPORT_PREFIX).nth(1).unwrap().parse().unwrap()
    }

    fn burn(&mut self, burn_ms: u64) -> u64 {
        self.tell(&format!("{BURN} {burn_ms}"))
    }

    fn meter(&self) -> ServerMeter {
        ServerMeter::of(&[self.root.id()]).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        drop(self.root.stdin.take());
        self.root.wait().unwrap();
    }
}

fn growing(counters: &TaskCounters) -> [Option<u64>; 10] {
    [
        counters.user_ns,
        counters.system_ns,
        counters.on_cpu_ns,
        counters.run_delay_ns,
        counters.read_bytes,
        counters.write_bytes,
        counters.minor_faults,
        counters.major_faults,
        counters.voluntary_switches,
        counters.involuntary_switches,
    ]
}

fn cpu_ns(counters: &TaskCounters) -> u64 {
    counters.user_ns.unwrap() + counters.system_ns.unwrap()
}

#[test]
fn two_roots_are_counted_together() {
    let (mut first, mut second) = (Tree::start(), Tree::start());
    let mut meter = ServerMeter::of(&[first.root.id(), second.root.id()]).unwrap();
    let start = meter.read(Edge::Start);
    let burnt_us = first.burn(40) + second.burn(40);
    let used_ns = cpu_ns(&meter.read(Edge::End)) - cpu_ns(&start);
    assert!(used_ns >= (burnt_us * 1000).saturating_sub(2 * 2 * 10_000_000), "{used_ns}");
    assert_eq!(meter.processes(), 2);
}

#[test]
fn children_that_lived_and_died_between_readings_are_counted() {
    let mut tree = Tree::start();
    let mut meter = tree.meter();
    let before_us = tree.burn(20);
    let start = meter.read(Edge::Start);
    for _ in 0..5 {
        tree.burn(60);
    }
    let after_us = tree.burn(1);
    let end = meter.read(Edge::End);
    assert_eq!(meter.error(), None);

    // Two times, of the root and of its children, each cut to whole ticks on both sides.
    let unsure_ns = 4 * Units::of_host().tick_ns;
    let oracle_ns = (after_us - before_us) * 1_000;
    assert!(oracle_ns >= 300_000_000, "{oracle_ns}");
    for grown_ns in
        [cpu_ns(&end) - cpu_ns(&start), end.on_cpu_ns.unwrap() - start.on_cpu_ns.unwrap()]
    {
        // The root itself works, too: it starts programs.
        assert!(grown_ns + unsure_ns >= oracle_ns, "{grown_ns} of {oracle_ns}");
        assert!(grown_ns <= oracle_ns * 3 / 2 + unsure_ns, "{grown_ns} of {oracle_ns}");
    }
    assert!(end.minor_faults.unwrap() > start.minor_faults.unwrap() + 100, "each has its own");
    assert!(end.threads_at_work.unwrap() >= 1, "one at a time was at work: {end:?}");
}

#[test]
fn bytes_of_children_that_ended_are_their_parent_s() {
    // On a file system of the disk; what is written into memory is not counted.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut tree = Tree::start();
    let mut meter = tree.meter();
    let start = meter.read(Edge::Start);
    tree.tell(&format!("{WRITE} {}", folder.path().join("file").display()));
    let end = meter.read(Edge::End);
    let (Some(before), Some(after)) = (start.write_bytes, end.write_bytes) else {
        eprintln!("SKIPPED: this host does not let us read io");
        return;
    };
    let grown = after - before;
    assert!((WRITTEN_BYTES..2 * WRITTEN_BYTES).contains(&grown), "{grown}");
}

#[test]
fn proportional_memory_is_that_of_all_processes_at_the_end() {
    let mut tree = Tree::start();
    tree.tell(HOLD);
    let mut meter = tree.meter();
    assert_eq!(meter.read(Edge::Start).pss_bytes, None);
    let end = meter.read(Edge::End);
    assert_eq!(meter.error(), None);
    assert!(meter.processes() >= 2);
    let Some(pss) = meter.read_pss_bytes(true) else {
        eprintln!("SKIPPED: this host does not let us read smaps_rollup");
        return;
    };
    assert!(pss > 0 && pss <= 2 * end.rss_bytes.unwrap(), "{end:?}");
}

#[test]
fn sums_never_go_backwards_while_processes_come_and_go() {
    let mut tree = Tree::start();
    let (mut meter, mut before) = (tree.meter(), TaskCounters::default());
    let pid = tree.root.id();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let mut readings = 0;
        while stopped.try_recv().is_err() {
            let after = meter.read(if readings % 2 == 0 { Edge::Start } else { Edge::End });
            for (before, after) in growing(&before).into_iter().zip(growing(&after)) {
                assert!(before <= after, "{before:?} then {after:?} of {pid}");
            }
            (before, readings) = (after, readings + 1);
        }
        assert_eq!(meter.error(), None);
        (readings, before)
    });
    let mut children_us = 0;
    for _ in 0..30 {
        children_us = tree.burn(5);
    }
    stop.send(()).unwrap();
    let (readings, last) = reader.join().unwrap();
    assert!(readings > 10, "{readings}");
    let unsure_ns = 4 * Units::of_host().tick_ns;
    assert!(cpu_ns(&last) + unsure_ns + 10_000_000 >= children_us * 1_000, "{last:?}");
    // Counting a child twice at its end would add up to more than one of them.
    assert!(cpu_ns(&last) <= children_us * 2_000 + unsure_ns, "{children_us} us: {last:?}");
}

#[test]
fn descendants_are_found_and_their_memory_is_counted() {
    let mut tree = Tree::start();
    let mut meter = tree.meter();
    let alone = meter.read(Edge::Start);
    assert_eq!(meter.processes(), 1);
    for _ in 0..3 {
        tree.tell(HOLD);
    }
    let with_children = meter.read(Edge::End);
    assert_eq!(meter.processes(), 4);
    assert_eq!(with_children.threads.unwrap(), alone.threads.unwrap() + 3);
    let (alone, with_children) = (alone.rss_bytes.unwrap(), with_children.rss_bytes.unwrap());
    assert!(alone < with_children, "{alone} {with_children}");
    assert_eq!(meter.read(Edge::End).rss_peak_bytes, None, "not measured");
}

#[test]
fn a_server_that_went_away_is_absent_and_no_error() {
    let tree = Tree::start();
    let mut meter = tree.meter();
    assert!(meter.read(Edge::Start).user_ns.is_some());
    drop(tree);
    let gone = meter.read(Edge::End);
    assert_eq!(gone, TaskCounters { time_ns: gone.time_ns, ..TaskCounters::default() });
    assert_eq!(meter.error(), None);
}

#[test]
fn a_server_that_is_not_there_is_an_error_that_names_it() {
    let error = ServerMeter::new(common::proc_fixture(), &[9_999_999]).err().unwrap().to_string();
    assert!(error.contains("proc/9999999: No such file"), "{error}");
}

#[test]
fn a_tree_is_the_sum_of_its_processes() {
    let mut meter = ServerMeter::new(common::proc_fixture(), &[4300]).unwrap();
    let start = meter.read(Edge::Start);
    assert_eq!(meter.processes(), 2, "4301 is its child");
    assert_eq!(start.threads, Some(2));
    assert_eq!(start.read_bytes, None, "neither has an io file");
    assert_eq!(start.rss_bytes, None, "nor statm");
    // Own time and that of children, of both; by the scheduler's clock 4300 alone has own time.
    assert_eq!(start.user_ns, Some(2 * (2_500_000_000 + 110_000_000)));
    assert_eq!(start.on_cpu_ns, Some(10 + 2 * (110_000_000 + 120_000_000)));
    assert_eq!(start.minor_faults, Some(2 * (1_234 + 99)));
    assert_eq!(meter.read(Edge::End).threads_at_work, Some(0));
}
