//! CPU time against the child's own `getrusage`; CPU time and memory against RUSAGE_CHILDREN. The
//! child is this program, asked for the ignored test below.

mod common;

use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_kernel::usage::{Usage, UsageOf};
use assay_observe::{ProbeKind, Sampler, SamplerConfig};
use common::{host_config, numbers};

const BURN_S: f64 = 2.0;
/// The kernel prints ticks of 10 ms and the child goes on for a moment after it looked.
const CPU_TOLERANCE_S: f64 = 0.03 * BURN_S;
const HELD_BYTES: usize = 64 * 1024 * 1024;
/// The kernel counts resident pages a CPU in batches; the highest and the last differ a little.
const RSS_TOLERANCE_BYTES: u64 = 4 * 1024 * 1024;
/// Set for the child only, so that `--include-ignored` does not wait for an input.
const CHILD_MARK: &str = "ASSAY_TRUTH_CHILD";
const READY: &str = "burnt and holding";

fn cpu_s(usage: &Usage) -> f64 {
    usage.cpu_ns() as f64 / 1e9
}

#[test]
#[ignore = "not a test: the child of the one below"]
fn child() {
    if std::env::var_os(CHILD_MARK).is_none() {
        return;
    }
    let held = black_box(vec![1_u8; HELD_BYTES]);
    while cpu_s(&Usage::of(UsageOf::Process)) < BURN_S {
        black_box(&held);
    }
    println!("{READY}");
    // Alive until the parent has looked and closes our input.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    black_box(held);
}

fn ready_child() -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child", "--nocapture"])
        .env(CHILD_MARK, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with(READY)));
    child
}

#[test]
fn cpu_and_memory_against_getrusage() {
    let raw = tempfile::tempdir().unwrap();
    let mut child = ready_child();
    let followed = vec![(child.id(), "engine".to_owned())];
    let interval = Duration::from_millis(100);
    let config =
        SamplerConfig { followed, interval, ..host_config(ProbeKind::Processes, raw.path()) };
    Sampler::start(config).unwrap().stop().unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let children = Usage::of(UsageOf::Children);

    let path = raw.path().join("processes.arrows");
    let last = |name| numbers(&path, name).pop().flatten().unwrap();
    let ticks_s = (last("user_ns") + last("system_ns")) as f64 / 1e9;
    assert!((ticks_s - BURN_S).abs() <= CPU_TOLERANCE_S, "{ticks_s} s of CPU by ticks");
    let scheduler_s = last("on_cpu_ns") as f64 / 1e9;
    assert!((scheduler_s - BURN_S).abs() <= CPU_TOLERANCE_S, "{scheduler_s} s by the scheduler");
    assert!((ticks_s - cpu_s(&children)).abs() <= CPU_TOLERANCE_S, "{ticks_s}: {children:?}");
    let rss_max_bytes = children.rss_peak_bytes;
    let rss_bytes = last("rss_bytes");
    assert!(rss_bytes >= HELD_BYTES as u64, "{rss_bytes}");
    assert!(
        rss_bytes.abs_diff(rss_max_bytes) <= RSS_TOLERANCE_BYTES,
        "{rss_bytes} {rss_max_bytes}"
    );
}
