//! A limit of CPU time against a group that is made here, which takes root and the CPU controller.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_observe::{ProbeKind, Sampler, SamplerConfig};
use common::{host_config, numbers};

/// A control group of version 1 or 2 that may run for a fifth of the time; removed at the end.
struct Group(PathBuf);

impl Group {
    fn limited() -> Option<Self> {
        let name = format!("assay-test-{}", std::process::id());
        let limits = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
            ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
        ];
        limits.into_iter().find_map(|(mount, file, limit)| {
            let group = Self(PathBuf::from(mount).join(&name));
            fs::create_dir(&group.0).ok()?;
            let limited =
                group.0.join(file).exists() && fs::write(group.0.join(file), limit).is_ok();
            limited.then_some(group)
        })
    }

    fn burner(&self) -> Child {
        let child = Command::new("sh")
            .args(["-c", "read go; while :; do :; done"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        fs::write(self.0.join("cgroup.procs"), child.id().to_string()).unwrap();
        child
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // One that stays behind limits nobody: it is empty.
        let _ = fs::remove_dir(&self.0);
    }
}

fn growth(values: &[Option<u64>]) -> u64 {
    values[values.len() - 1].unwrap() - values[0].unwrap()
}

/// What the split of a thread's time rests on: being kept from running counts as waiting for a CPU.
#[test]
fn throttling_is_told_and_is_part_of_the_time_that_a_thread_waits_for_a_cpu() {
    let Some(group) = Group::limited() else {
        eprintln!("SKIPPED: this host does not let us make a control group with a limit");
        return;
    };
    let mut child = group.burner();
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(child.id(), "engine".to_owned())];
    let config = SamplerConfig { followed, ..host_config(ProbeKind::Waits, raw.path()) };
    let sampler = Sampler::start(config).unwrap();
    drop(child.stdin.take());
    std::thread::sleep(Duration::from_millis(1_500));
    sampler.stop().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let limits = raw.path().join("cgroup.arrows");
    let throttled_ns = growth(&numbers(&limits, "throttled_ns"));
    assert!(throttled_ns > 0 && growth(&numbers(&limits, "throttled_periods")) > 0);
    let waits = raw.path().join("waits.arrows");
    let run_delay_ns = growth(&numbers(&waits, "run_delay_ns"));
    let on_cpu_ns = growth(&numbers(&waits, "on_cpu_ns"));
    assert!(run_delay_ns > throttled_ns / 2, "{run_delay_ns} of {throttled_ns}");
    assert!(run_delay_ns > on_cpu_ns, "{run_delay_ns} beside {on_cpu_ns}");
}
