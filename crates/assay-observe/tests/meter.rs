//! The process meter, on the fixtures and on this very process.

mod common;

use std::hint::black_box;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use assay_kernel::usage::{Usage, UsageOf};
use assay_model::{DeviceCounters, Edge, Meter, TaskCounters};
use assay_observe::ProcessMeter;

const MEBIBYTE: usize = 1024 * 1024;

/// Tests of this file look at the whole process, so only one may work at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that burns `cpu_ms` of CPU time and then lives on until it is told to end.
struct Burner {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Burner {
    fn burnt(name: &str, cpu_ms: i64) -> Self {
        let (end, ended) = channel();
        let (tell, done) = channel();
        let work = move || {
            while thread_cpu_ms() < cpu_ms {
                black_box(0);
            }
            tell.send(()).unwrap();
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work).unwrap();
        done.recv().unwrap();
        Self { end, thread }
    }

    fn join(self) {
        drop(self.end);
        self.thread.join().unwrap();
    }
}

fn thread_cpu_ms() -> i64 {
    (Usage::of(UsageOf::Thread).cpu_ns() / 1_000_000) as i64
}

/// The counters that grow, in the order of the struct.
fn growing(counters: &TaskCounters) -> [Option<u64>; 9] {
    [
        counters.user_ns,
        counters.system_ns,
        counters.on_cpu_ns,
        counters.run_delay_ns,
        counters.read_bytes,
        counters.write_bytes,
        counters.minor_faults,
        counters.voluntary_switches,
        counters.involuntary_switches,
    ]
}

#[test]
fn another_process_is_read_from_its_files() {
    let mut meter = ProcessMeter::new(common::proc_fixture(), 4242).unwrap();
    let start = meter.read(Edge::Start);
    let expected = TaskCounters {
        time_ns: start.time_ns,
        user_ns: Some(2_500_000_000),
        system_ns: Some(1_300_000_000),
        // Task 4243 is named assay-probe-sys: ours, and not the engine's.
        on_cpu_ns: Some(2_500_000_001),
        run_delay_ns: Some(30_000_002),
        block_delay_ns: Some(420_000_000),
        read_bytes: Some(24_117_248),
        write_bytes: Some(8_192),
        minor_faults: Some(1_234),
        major_faults: Some(56),
        voluntary_switches: Some(700),
        involuntary_switches: Some(30),
        threads: Some(1),
        threads_at_work: None,
        rss_bytes: Some(8 * MEBIBYTE as u64),
        rss_peak_bytes: None,
        pss_bytes: None,
        device: DeviceCounters::default(),
    };
    assert_eq!(start, expected);
    let end = meter.read(Edge::End);
    // The fixture has no clear_refs, so the peak could not be reset and is not told.
    let at_end = (end.threads_at_work, end.rss_peak_bytes, end.pss_bytes);
    assert_eq!(at_end, (Some(0), None, None));
    assert_eq!(meter.read_pss_bytes(false), Some(461 * 1024));
    assert!(meter.error().is_none());
}

#[test]
fn a_process_that_is_not_there_is_absent_and_no_error() {
    let mut meter = ProcessMeter::new(common::proc_fixture(), 9_999_999).unwrap();
    for edge in [Edge::Start, Edge::End] {
        let counters = meter.read(edge);
        assert_eq!(counters, TaskCounters { time_ns: counters.time_ns, ..Default::default() });
    }
    assert!(meter.error().is_none());
}

#[test]
fn two_readings_in_a_row_never_go_backwards() {
    let _alone = alone();
    let mut meter = ProcessMeter::of_self().unwrap();
    let mut before = meter.read(Edge::Start);
    for round in 0..200 {
        // Threads that come and go between readings must not take counts away with them.
        std::thread::spawn(|| black_box(vec![1_u8; 4096])).join().unwrap();
        let after = meter.read(if round % 2 == 0 { Edge::End } else { Edge::Start });
        assert!(before.time_ns <= after.time_ns);
        for (before, after) in growing(&before).into_iter().zip(growing(&after)) {
            assert!(before <= after, "{before:?} then {after:?}");
        }
        before = after;
    }
    assert!(meter.error().is_none());
}

#[test]
fn an_engine_thread_at_work_is_counted_and_ours_is_not() {
    const BURN_MS: i64 = 200;
    let _alone = alone();
    let mut meter = ProcessMeter::of_self().unwrap();
    let on_cpu_ms = |meter: &mut ProcessMeter, name: &str| {
        let start = meter.read(Edge::Start);
        let burner = Burner::burnt(name, BURN_MS);
        let end = meter.read(Edge::End);
        burner.join();
        (end, (end.on_cpu_ns.unwrap() - start.on_cpu_ns.unwrap()) / 1_000_000)
    };
    let (end, engine_ms) = on_cpu_ms(&mut meter, "engine-worker");
    assert!(engine_ms >= BURN_MS as u64 * 9 / 10, "{engine_ms}");
    // Threads of tests may have waited for a CPU long enough to count as well.
    assert!((1..=end.threads.unwrap()).contains(&end.threads_at_work.unwrap()), "{end:?}");
    let (_, ours_ms) = on_cpu_ms(&mut meter, "assay-burner");
    assert!(ours_ms <= BURN_MS as u64 / 2, "{ours_ms}");
}

#[test]
fn the_peak_is_of_the_interval_and_not_of_the_process() {
    const HELD_BYTES: usize = 64 * MEBIBYTE;
    let _alone = alone();
    let mut meter = ProcessMeter::of_self().unwrap();
    let start = meter.read(Edge::Start);
    assert_eq!((start.rss_peak_bytes, start.pss_bytes, start.threads_at_work), (None, None, None));
    drop(black_box(vec![1_u8; HELD_BYTES]));
    let with_memory = meter.read(Edge::End);
    let pss_bytes = meter.read_pss_bytes(true);
    meter.read(Edge::Start);
    let without_memory = meter.read(Edge::End);
    let Some(peak) = with_memory.rss_peak_bytes else {
        eprintln!("SKIPPED: this host does not let us reset VmHWM through clear_refs");
        return;
    };
    assert!(peak >= HELD_BYTES as u64, "{peak}");
    assert!(without_memory.rss_peak_bytes.unwrap() < peak, "{without_memory:?}");
    let pss = pss_bytes.unwrap();
    assert!(pss > 0 && pss <= peak);
}
