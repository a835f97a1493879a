//! Threads that do what their names say: where the kernel says they are, and what is written of them.

mod common;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::{Duration, Instant};

use assay_observe::{ProbeKind, Sampler, SamplerConfig};
use common::{host_config, numbers, texts};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

/// One row of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    time_ns: u64,
    seen_ns: Option<u64>,
    thread: (u64, u64),
    comm: String,
    state: String,
    channel: Option<String>,
    call: Option<i64>,
    address: Option<u64>,
    clock: [Option<u64>; 3],
}

fn rows(raw: &Path) -> Vec<Row> {
    let path = raw.join("waits.arrows");
    let column = |name| numbers(&path, name);
    let text_column = |name| texts(&path, name);
    let (times, seen, pids, tids) =
        (column("time_ns"), column("seen_ns"), column("pid"), column("tid"));
    let (calls, addresses) = (column("call"), column("address"));
    let clocks = ["on_cpu_ns", "run_delay_ns", "timeslices"].map(column);
    let (comms, states, channels) =
        (text_column("comm"), text_column("state"), text_column("channel"));
    let row = |n: usize| Row {
        time_ns: times[n].unwrap(),
        seen_ns: seen[n],
        thread: (pids[n].unwrap(), tids[n].unwrap()),
        comm: comms[n].clone().unwrap(),
        state: states[n].clone().unwrap(),
        channel: channels[n].clone(),
        call: calls[n].map(u64::cast_signed),
        address: addresses[n],
        clock: [0, 1, 2].map(|place: usize| clocks[place][n]),
    };
    (0..times.len()).map(row).collect()
}

/// No thread is left out of looks for longer.
const LEFT_OUT_MAX: Duration = Duration::from_millis(100);

fn config(pid: u32, raw: &Path) -> SamplerConfig {
    let followed = vec![(pid, "engine".to_owned())];
    let interval = Duration::from_millis(2);
    SamplerConfig { followed, interval, ..host_config(ProbeKind::Waits, raw) }
}

/// Waits for a thread of this process to sleep, as the kernel says.
fn wait_until_asleep(tid: u64) {
    let stat = format!("/proc/self/task/{tid}/stat");
    while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for the kernel to take a thread of this process out, which it does after it was joined.
fn wait_until_gone(tid: u64) {
    while Path::new(&format!("/proc/self/task/{tid}")).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Samples this process for a while, once these threads sleep.
fn watch(raw: &Path, asleep: &[u64]) -> Vec<Row> {
    asleep.iter().copied().for_each(wait_until_asleep);
    let sampler = Sampler::start(config(std::process::id(), raw)).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(sampler.stop().unwrap().error, None);
    rows(raw)
}

fn of(rows: &[Row], tid: u64) -> Vec<&Row> {
    rows.iter().filter(|row| row.thread.1 == tid).collect()
}

/// The number of the calling thread.
fn own_number() -> u64 {
    let own = std::fs::read_link("/proc/thread-self").unwrap();
    own.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Starts a thread that tells its number and then does `work`.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> (u64, std::thread::JoinHandle<()>) {
    let (sender, number) = channel();
    let body = move || {
        sender.send(own_number()).unwrap();
        work();
    };
    let thread = Builder::new().name(name.to_owned()).spawn(body).unwrap();
    (number.recv().unwrap(), thread)
}

#[test]
fn a_thread_that_waits_at_a_futex_has_one_row_with_its_address() {
    let raw = tempfile::tempdir().unwrap();
    let (tid, thread) = start("sleeper", std::thread::park);
    let rows = watch(raw.path(), &[tid]);
    let of_it = of(&rows, tid);
    assert_eq!(of_it.len(), 1, "{of_it:?}");
    let row = of_it[0];
    assert_eq!((row.comm.as_str(), row.state.as_str(), row.seen_ns), ("sleeper", "S", None));
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/syscall")).unwrap();
    let fields: Vec<_> = text.split_whitespace().collect();
    assert_eq!(row.call, Some(fields[0].parse().unwrap()));
    assert_eq!(row.call, Some(libc::SYS_futex));
    assert_eq!(row.address.map(|address| format!("{address:#x}")), Some(fields[1].to_owned()));
    let channel = std::fs::read_to_string(format!("/proc/self/task/{tid}/wchan")).unwrap();
    assert_eq!(row.channel.as_deref(), Some(channel.as_str()).filter(|name| *name != "0"));
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn a_thread_that_waits_in_epoll_is_in_that_call_and_at_no_address() {
    let raw = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let (tid, thread) = start("epoll", move || {
        let poll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        epoll::add(&poll, &reader, EventData::new_u64(0), EventFlags::IN).unwrap();
        epoll::wait(&poll, spare_capacity(&mut Vec::with_capacity(1)), None).unwrap();
    });
    let rows = watch(raw.path(), &[tid]);
    let of_it = of(&rows, tid);
    assert_eq!(of_it.len(), 1, "{of_it:?}");
    let calls = [Some(libc::SYS_epoll_wait), Some(libc::SYS_epoll_pwait)];
    assert!(calls.contains(&of_it[0].call), "{of_it:?}");
    assert_eq!((of_it[0].state.as_str(), of_it[0].address), ("S", None));
    drop(writer);
    thread.join().unwrap();
}

#[test]
fn a_thread_that_burns_its_cpu_is_told_of_again_and_again() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let raw = tempfile::tempdir().unwrap();
    let (tid, thread) = start("burner", || {
        while !STOP.load(Ordering::Relaxed) {
            black_box(());
        }
    });
    let rows = watch(raw.path(), &[]);
    STOP.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    let of_it = of(&rows, tid);
    assert!(of_it.len() > 2, "{of_it:?}");
    assert!(of_it.iter().all(|row| row.state == "R" && row.call.is_none()), "{of_it:?}");
    assert!(of_it.is_sorted_by(|a, b| a.clock[0] <= b.clock[0] && a != b), "{of_it:?}");
    assert!(of_it[0].clock[0] < of_it[of_it.len() - 1].clock[0]);
}

#[test]
fn threads_of_ours_are_not_in_the_stream() {
    let raw = tempfile::tempdir().unwrap();
    let (tid, thread) = start("assay-recorder", std::thread::park);
    let rows = watch(raw.path(), &[tid]);
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| !row.comm.starts_with("assay-")), "{rows:?}");
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn a_thread_that_ends_between_two_looks_has_a_last_row() {
    let raw = tempfile::tempdir().unwrap();
    let (tid, thread) = start("short", std::thread::park);
    wait_until_asleep(tid);
    let sampler = Sampler::start(config(std::process::id(), raw.path())).unwrap();
    thread.thread().unpark();
    thread.join().unwrap();
    wait_until_gone(tid);
    // A thread that sleeps is left out of looks for a tenth of the time that it has slept.
    std::thread::sleep(LEFT_OUT_MAX);
    sampler.stop().unwrap();
    let rows = rows(raw.path());
    let of_it = of(&rows, tid);
    let (first, last) = (of_it[0], of_it[of_it.len() - 1]);
    assert_eq!((first.state.as_str(), last.state.as_str()), ("S", "X"));
    assert!(last.seen_ns >= Some(first.time_ns) && last.seen_ns < Some(last.time_ns), "{of_it:?}");
    assert_eq!((last.call, last.channel.as_deref()), (None, None));
}

/// The rows of each life of a thread; a number is given out again after its last row.
fn lives(rows: Vec<Row>) -> Vec<Vec<Row>> {
    let mut open: BTreeMap<(u64, u64), Vec<Row>> = BTreeMap::new();
    let mut ended = Vec::new();
    for row in rows {
        let thread = row.thread;
        let gone = row.state == "X";
        open.entry(thread).or_default().push(row);
        if gone {
            ended.extend(open.remove(&thread));
        }
    }
    ended.into_iter().chain(open.into_values()).collect()
}

#[test]
fn of_short_lived_children_each_row_follows_from_the_one_before() {
    let raw = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh")
        .args(["-c", "while :; do sleep 0.02 & sleep 0.01; (exit 0); wait; done"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let own = u64::from(shell.id());
    let sampler = Sampler::start(config(shell.id(), raw.path())).unwrap();
    let ended = |rows: &[Row]| rows.iter().filter(|row| row.state == "X").count();
    let begun = Instant::now();
    while ended(&rows(raw.path())) < 10 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no child was seen");
        std::thread::sleep(Duration::from_millis(100));
    }
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(sampler.stop().unwrap().error, None);
    let lives = lives(rows(raw.path()));
    assert!(lives.iter().any(|life| life[0].thread == (own, own)));
    for life in lives {
        assert_eq!(life[0].seen_ns, None, "{life:?}");
        for pair in life.windows(2) {
            let (before, row) = (&pair[0], &pair[1]);
            assert!(row.seen_ns >= Some(before.time_ns), "{pair:?}");
            assert!(row.seen_ns < Some(row.time_ns), "{pair:?}");
            let same = Row { time_ns: row.time_ns, seen_ns: row.seen_ns, ..before.clone() };
            assert_ne!(&same, row, "nothing had changed");
            assert!(before.clock.iter().zip(&row.clock).all(|(a, b)| a <= b), "{pair:?}");
        }
    }
}
