//! What the kernel grants to somebody who is nobody: our own processes, and what
//! `perf_event_paranoid` says beyond that.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use assay_kernel::clock::thread_cpu_ns;
use assay_profile::{Profiler, Stacks, Wish};

/// Set in the process that is nobody.
const INNER: &str = "ASSAY_TEST_UNPRIVILEGED";
const NOBODY: u32 = 65_534;

#[test]
fn own_processes_are_sampled_without_privileges() {
    if std::env::var_os(INNER).is_some() || !rustix::process::getuid().is_root() {
        sample_ourselves();
        return;
    }
    // Anybody may enter the folder and execute the copy.
    let folder = tempfile::Builder::new().prefix("assay-test").tempdir().unwrap();
    let copy = folder.path().join("unprivileged");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    // The kernel lets a user lock less than one large ring a processor: all have to be smaller.
    for locked in ["--core=0:", "--memlock=1048576:"] {
        sampled_as_nobody(folder.path(), locked);
    }
}

fn sampled_as_nobody(folder: &Path, locked: &str) {
    let output = Command::new("prlimit")
        .arg(locked)
        .arg(folder.join("unprivileged"))
        .args(["--exact", "own_processes_are_sampled_without_privileges"])
        .env(INNER, "1")
        .env("TMPDIR", folder)
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    assert!(output.status.success(), "{locked} {}", String::from_utf8_lossy(&output.stdout));
}

fn sample_ourselves() {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let level: i32 = level.trim().parse().unwrap();
    let raw = tempfile::tempdir().unwrap();
    let worker = thread::spawn(|| work_for(Duration::from_millis(400)));
    let started = start(raw.path());
    if level > 2 {
        let message = started.err().unwrap().to_string();
        assert!(message.contains("sysctl kernel.perf_event_paranoid=2"), "{message}");
        return;
    }
    let profiler = started.unwrap();
    let granted = profiler.granted();
    assert_eq!(granted.whole_machine, level <= 0, "{granted:?}");
    assert_eq!(granted.attr.kernel, level <= 1, "{granted:?}");
    worker.join().unwrap();
    // One that is born later is sampled, too. Where a hypervisor takes the processor away, the kernel
    // takes one sample for many that were due, and the other thread may have ended before the start.
    thread::spawn(|| work_for(Duration::from_secs(1))).join().unwrap();
    let report = profiler.stop().unwrap();
    assert_eq!(report.error, None);
    assert!(report.counts.samples > 100, "{report:?}");
}

fn start(raw: &Path) -> Result<Profiler, assay_profile::ProfileError> {
    Profiler::start(
        raw,
        &Wish {
            pids: vec![std::process::id()],
            frequency_hz: 999,
            stacks: Some(Stacks::Copies(4096)),
            may_watch_all: true,
            kernel: true,
        },
    )
}

/// Works for so much CPU time, however busy the machine is.
fn work_for(duration: Duration) {
    let begun_ns = thread_cpu_ns();
    while Duration::from_nanos(thread_cpu_ns() - begun_ns) < duration {
        std::hint::spin_loop();
    }
}
