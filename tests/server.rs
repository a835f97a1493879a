//! The server meter, on a real tree of processes: a shell and the children that it starts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use assay_model::{Edge, Meter, TaskCounters};
use assay_observe::ServerMeter;

const MS_NS: u64 = 1_000_000;
/// A child that burns CPU time and ends. Its output says how much it has used by its own account.
const BURN: &str = "(i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; times | tail -n 2 | head -n 1)";

/// A shell that does what it is told, line by line, and waits for every child.
struct Shell {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start() -> Self {
        let mut process = Command::new("sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let input = process.stdin.take();
        let mut shell = Self { process, input, output };
        shell.does("true");
        shell
    }

    /// Runs a command to its end; returns the last line that it wrote, without the mark.
    fn does(&mut self, command: &str) -> Vec<String> {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{command}\necho done").unwrap();
        let lines = (&mut self.output).lines().map(Result::unwrap);
        lines.take_while(|line| line != "done").collect()
    }

    fn meter(&self) -> ServerMeter {
        ServerMeter::of(self.process.id()).unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.input = None;
        self.process.wait().unwrap();
    }
}

fn cpu_ns(counters: &TaskCounters) -> u64 {
    counters.user_ns.unwrap() + counters.system_ns.unwrap()
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

/// CPU time of a line of `times`, such as `0m0.180000s 0m0.010000s`.
fn told_ns(line: &str) -> u64 {
    let seconds = line.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    });
    (seconds.sum::<f64>() * 1e9) as u64
}

#[test]
fn a_child_that_began_and_ended_between_two_readings_is_in_the_sums() {
    let mut shell = Shell::start();
    let mut meter = shell.meter();
    let start = meter.read(Edge::Start);
    let told = shell.does("(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); times");
    let end = meter.read(Edge::End);
    // The second line is of the children of the shell.
    let burnt_ns = told_ns(&told[1]);
    assert!(burnt_ns >= 50 * MS_NS, "the child burnt enough to be told apart: {burnt_ns}");
    let tolerance_ns = 30 * MS_NS;
    for grown_ns in
        [cpu_ns(&end) - cpu_ns(&start), end.on_cpu_ns.unwrap() - start.on_cpu_ns.unwrap()]
    {
        assert!(grown_ns + tolerance_ns >= burnt_ns, "{grown_ns} of {burnt_ns}");
        assert!(grown_ns <= burnt_ns + 2 * tolerance_ns, "{grown_ns} of {burnt_ns}");
    }
    assert!(end.minor_faults > start.minor_faults, "faults of the child");
    assert!(end.threads_at_work.unwrap() >= 1, "{end:?}");
    assert_eq!((start.threads_at_work, end.rss_peak_bytes), (None, None));
    assert!(end.rss_bytes.unwrap() > 0);
    assert_eq!(meter.error(), None);
}

#[test]
fn no_sum_goes_backwards_when_children_end() {
    let mut shell = Shell::start();
    let mut meter = shell.meter();
    let mut before = meter.read(Edge::Start);
    for round in 0..20 {
        // One child lives through the reading, and ends before the next.
        shell.does(&format!("{BURN} & {BURN}"));
        let after = meter.read(if round % 2 == 0 { Edge::End } else { Edge::Start });
        for (before, after) in growing(&before).into_iter().zip(growing(&after)) {
            assert!(before <= after, "{before:?} then {after:?}");
        }
        before = after;
        shell.does("wait");
    }
    assert_eq!(meter.error(), None);
}

#[test]
fn live_children_and_theirs_belong_to_the_server() {
    let mut shell = Shell::start();
    let mut meter = shell.meter();
    let alone = meter.read(Edge::Start);
    // A shell with a child of its own, both of which wait.
    let pid = shell.does("mkfifo_dir=$(mktemp -d); mkfifo $mkfifo_dir/wait; (cat $mkfifo_dir/wait; true) & echo $!");
    let child: u32 = pid.last().unwrap().parse().unwrap();
    while std::fs::read_to_string(format!("/proc/{child}/task/{child}/stat")).is_err() {}
    let grown = loop {
        let reading = meter.read(Edge::End);
        if reading.threads >= Some(3) {
            break reading;
        }
        std::thread::yield_now();
    };
    assert_eq!((alone.threads, grown.threads), (Some(1), Some(3)));
    assert!(grown.rss_bytes > alone.rss_bytes);
    shell.does("echo > $mkfifo_dir/wait; wait; rm -r $mkfifo_dir");
    assert_eq!(meter.read(Edge::End).threads, Some(1));
}

#[test]
fn a_server_that_ended_is_absent_and_one_that_never_was_is_an_error() {
    let shell = Shell::start();
    let (pid, mut meter) = (shell.process.id(), shell.meter());
    assert!(meter.read(Edge::Start).user_ns.is_some());
    drop(shell);
    let gone = meter.read(Edge::End);
    assert_eq!(gone, TaskCounters { time_ns: gone.time_ns, ..TaskCounters::default() });
    let error = ServerMeter::of(pid).err().unwrap().to_string();
    assert_eq!(error, format!("/proc/{pid}/stat: the server is not there"));
}
