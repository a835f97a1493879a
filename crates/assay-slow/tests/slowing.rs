//! Real processes are slowed: what is reckoned is what they took, and none is left stopped.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_ipc::reader::StreamReader;
use assay_slow::{Factors, Root, SlowError, Slower, SlowerConfig, SlowerReport};
use tempfile::TempDir;

/// A process that computes, and ends with the test.
struct Busy(Child);

impl Busy {
    fn start(script: &str) -> Self {
        Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn config(pid: u32, cpu: f64, raw_dir: &Path) -> SlowerConfig {
    SlowerConfig {
        roots: vec![Root { pid, start_ticks: start_ticks(pid) }],
        roots_listen: false,
        factors: Factors::new(cpu, 1.0).unwrap(),
        raw_dir: raw_dir.to_owned(),
        data: Some(raw_dir.to_owned()),
    }
}

fn slowed(pid: u32, cpu: f64, folder: &TempDir, enough: impl Fn() -> bool) -> SlowerReport {
    let slower = Slower::start(config(pid, cpu, folder.path())).unwrap();
    eventually(enough);
    slower.stop().unwrap()
}

fn eventually(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.trim_start().chars().next().unwrap()
}

/// 0 where there is no such process.
fn start_ticks(pid: u32) -> u64 {
    let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    assay_kernel::parse::start_ticks(&stat).unwrap_or_default()
}

fn on_cpu_ns(pid: u32) -> i64 {
    let schedstat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    schedstat.split(' ').next().unwrap().parse().unwrap()
}

fn rows(folder: &TempDir) -> Vec<RecordBatch> {
    let file = File::open(folder.path().join("slowing.arrows")).unwrap();
    StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
}

fn numbers(rows: &[RecordBatch], column: &str) -> Vec<i64> {
    let values = |batch: &RecordBatch| {
        batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().values().to_vec()
    };
    rows.iter().flat_map(values).collect()
}

#[test]
fn it_stands_still_for_what_it_computed() {
    let (busy, folder) = (Busy::start("while :; do :; done"), tempfile::tempdir().unwrap());
    let before_ns = on_cpu_ns(busy.pid());
    let report =
        slowed(busy.pid(), 3.0, &folder, || on_cpu_ns(busy.pid()) - before_ns > 200_000_000);
    assert_eq!(report.error, None);
    let took_ns = on_cpu_ns(busy.pid()) - before_ns;
    let reported_ns = report.taken_cpu_ns;
    assert!(reported_ns <= took_ns && reported_ns > took_ns / 2, "{reported_ns} of {took_ns}");
    assert_eq!(report.owed_ns, 2 * report.taken_cpu_ns);
    let paid = report.stopped_ns as f64 / report.owed_ns as f64;
    // On a busy host a stop may end late, and never before its time.
    assert!(paid > 0.9, "{paid} of what was owed");
    assert_ne!(state(busy.pid()), 'T');
}

#[test]
fn the_stream_tells_each_stop() {
    let (busy, folder) = (Busy::start("while :; do :; done"), tempfile::tempdir().unwrap());
    let before_ns = on_cpu_ns(busy.pid());
    let report =
        slowed(busy.pid(), 2.0, &folder, || on_cpu_ns(busy.pid()) - before_ns > 50_000_000);
    let rows = rows(&folder);
    for column in ["time_ns", "cpu_ns", "all_cpu_ns", "owed_ns", "stopped_ns"] {
        assert!(numbers(&rows, column).is_sorted(), "{column}");
    }
    let (from, until) = (numbers(&rows, "time_ns"), numbers(&rows, "until_ns"));
    let stops = from.iter().zip(&until).filter(|(from, until)| from < until).count();
    assert_eq!(stops as u64, report.stops);
    let stopped: i64 = until.iter().zip(&from).map(|(until, from)| until - from).sum();
    assert_eq!(stopped, report.stopped_ns);
    assert_eq!(numbers(&rows, "cpu_ns").last(), Some(&report.taken_cpu_ns));
}

#[test]
fn a_factor_of_one_looks_and_stops_nothing() {
    let (busy, folder) = (Busy::start("while :; do :; done"), tempfile::tempdir().unwrap());
    let before_ns = on_cpu_ns(busy.pid());
    let report =
        slowed(busy.pid(), 1.0, &folder, || on_cpu_ns(busy.pid()) - before_ns > 50_000_000);
    assert_eq!((report.stops, report.owed_ns), (0, 0));
    assert!(report.taken_cpu_ns > 20_000_000 && report.looks > 0, "{report:?}");
}

#[test]
fn descendants_that_come_later_are_slowed() {
    let folder = tempfile::tempdir().unwrap();
    let children = "while :; do ( i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done ); done";
    let parent = Busy::start(children);
    let mut config = config(parent.pid(), 2.0, folder.path());
    config.roots_listen = true;
    let slower = Slower::start(config).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let report = slower.stop().unwrap();
    assert!(report.stops > 0 && report.error.is_none(), "{report:?}");
}

#[test]
fn one_that_is_dropped_leaves_nothing_stopped() {
    let (busy, folder) = (Busy::start("while :; do :; done"), tempfile::tempdir().unwrap());
    let slower = Slower::start(config(busy.pid(), 100.0, folder.path())).unwrap();
    eventually(|| state(busy.pid()) == 'T');
    drop(slower);
    assert_ne!(state(busy.pid()), 'T');
}

#[test]
fn one_that_ends_while_it_is_slowed_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut busy = Busy::start("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done");
    let slower = Slower::start(config(busy.pid(), 2.0, folder.path())).unwrap();
    busy.0.wait().unwrap();
    assert_eq!(slower.stop().unwrap().error, None);
}

#[test]
fn who_has_the_number_of_an_engine_that_ended_is_not_stopped() {
    let (stranger, folder) = (Busy::start("while :; do :; done"), tempfile::tempdir().unwrap());
    let mut config = config(stranger.pid(), 100.0, folder.path());
    config.roots[0].start_ticks -= 1;
    let error = Slower::start(config).err().unwrap();
    assert!(matches!(error, SlowError::NoProcess(_)), "{error}");
    assert_ne!(state(stranger.pid()), 'T');
}

#[test]
fn nobody_is_not_slowed() {
    let folder = tempfile::tempdir().unwrap();
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let error = Slower::start(config(gone.id(), 2.0, folder.path())).err().unwrap();
    assert!(matches!(error, SlowError::NoProcess(_)), "{error}");
}
