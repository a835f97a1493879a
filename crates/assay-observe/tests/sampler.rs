//! The sampler thread: what lands in the streams, and who is followed.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_observe::{ObserveError, ProbeKind, Sampler, SamplerConfig, SamplerReport};
use common::{fixture_config, host_config, numbers, texts};

fn play(config: SamplerConfig) -> SamplerReport {
    let sampler = Sampler::start(config).unwrap();
    let report = sampler.stop().unwrap();
    assert_eq!(report.error, None);
    report
}

/// The accounts of a stream of processes, by pid, without repetition.
fn accounts(raw: &Path) -> Vec<(u64, String)> {
    let path = raw.join("processes.arrows");
    let pids = numbers(&path, "pid").into_iter().flatten();
    let mut accounts: Vec<_> = pids.zip(texts(&path, "account").into_iter().flatten()).collect();
    accounts.sort();
    accounts.dedup();
    accounts
}

#[test]
fn the_system_probe_writes_a_row_a_sample_and_a_row_a_cpu() {
    let raw = tempfile::tempdir().unwrap();
    let report = play(fixture_config(ProbeKind::System, raw.path()));
    assert!(report.samples >= 2, "one at the start, one at the stop");
    let system = raw.path().join("system.arrows");
    let samples = report.samples as usize;
    assert_eq!(numbers(&system, "context_switches"), vec![Some(675_054); samples]);
    assert_eq!(numbers(&system, "io_some_ns"), vec![Some(5_643_068_000); samples]);
    assert_eq!(numbers(&system, "oom_kill"), vec![Some(0); samples]);
    let cpus = raw.path().join("cpus.arrows");
    assert_eq!(numbers(&cpus, "cpu"), [Some(0), Some(1)].repeat(samples));
    assert_eq!(numbers(&cpus, "steal_ns")[..2], [Some(150_000_000), Some(240_000_000)]);
}

#[test]
fn a_host_without_the_files_gives_null_and_not_zero() {
    let (raw, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let proc_root = assay_kernel::ProcRoot(empty.path().to_owned());
    play(SamplerConfig { proc_root, ..fixture_config(ProbeKind::System, raw.path()) });
    let system = raw.path().join("system.arrows");
    assert!(numbers(&system, "memory_total_bytes").iter().all(Option::is_none));
    assert!(numbers(&system, "cpu_full_ns").iter().all(Option::is_none));
}

#[test]
fn the_disks_probe_tells_disks_from_what_lies_above_them() {
    let raw = tempfile::tempdir().unwrap();
    play(fixture_config(ProbeKind::Disks, raw.path()));
    let disks = raw.path().join("disks.arrows");
    let expected = [("loop1", None), ("vda", Some("disk")), ("vda1", Some("partition"))]
        .into_iter()
        .chain([("dm-0", Some("stacked"))]);
    let seen = texts(&disks, "device").into_iter().zip(texts(&disks, "kind")).take(4);
    let seen: Vec<_> = seen.map(|(device, kind)| (device.unwrap(), kind)).collect();
    let expected: Vec<_> =
        expected.map(|(device, kind)| (device.to_owned(), kind.map(str::to_owned))).collect();
    assert_eq!(seen, expected);
}

#[test]
fn descendants_inherit_the_account_of_the_nearest_followed_ancestor() {
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(4242, "engine".to_owned()), (4300, "driver".to_owned())];
    play(SamplerConfig { followed, ..fixture_config(ProbeKind::Processes, raw.path()) });
    let expected = [(4242, "engine"), (4300, "driver"), (4301, "driver")];
    assert_eq!(accounts(raw.path()), expected.map(|(pid, name)| (pid, name.to_owned())));
}

#[test]
fn a_process_has_the_sums_of_its_tasks() {
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(4242, "engine".to_owned())];
    play(SamplerConfig { followed, ..fixture_config(ProbeKind::Processes, raw.path()) });
    let path = raw.path().join("processes.arrows");
    let first = |name| numbers(&path, name)[0];
    assert_eq!(first("on_cpu_ns"), Some(3_000_000_001));
    assert_eq!(first("run_delay_ns"), Some(31_000_002));
    assert_eq!(first("block_delay_ns"), Some(500_000_000));
    assert_eq!(first("voluntary_switches"), Some(750));
    assert_eq!(first("read_bytes"), Some(24_117_248));
    assert_eq!(first("children_user_ns"), Some(110_000_000));
    assert_eq!(first("children_system_ns"), Some(120_000_000));
    assert_eq!(first("rss_shared_bytes"), Some(1_500 * 4096));
    assert_eq!(texts(&path, "title")[0].as_deref(), Some("server: writer"));
    assert_eq!((first("threads_running"), first("threads_disk")), (Some(0), Some(1)));
    assert_eq!(texts(&path, "comm")[0].as_deref(), Some("a) R (b c"));
    // Process 4301 has never been on a CPU as far as this kernel says, and no io file.
    assert_eq!(numbers(&path, "on_cpu_ns")[2], None);
    assert_eq!(numbers(&path, "read_bytes")[2], None);
}

#[test]
fn the_waits_probe_tells_once_of_threads_that_do_not_move() {
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(4242, "engine".to_owned())];
    let report = play(SamplerConfig { followed, ..fixture_config(ProbeKind::Waits, raw.path()) });
    assert_eq!(report.error, None);
    assert!(report.samples >= 2, "one at the start, one at the stop");
    let waits = raw.path().join("waits.arrows");
    let states = numbers(&waits, "tid").into_iter().zip(texts(&waits, "state"));
    let mut states: Vec<_> = states.map(|(tid, state)| (tid.unwrap(), state.unwrap())).collect();
    states.sort();
    let expected = [(4242, "S"), (4243, "D"), (4300, "R"), (4301, "D")];
    assert_eq!(states, expected.map(|(tid, state)| (tid, state.to_owned())));
    assert_eq!(numbers(&waits, "call"), [None; 4]);
    // Neither the channel nor the call of any of them is there to be read.
    assert_eq!(report.notes.len(), 2, "{:?}", report.notes);
    assert!(!raw.path().join("cgroup.arrows").exists(), "nothing limits them");
}

#[test]
fn following_can_begin_while_it_runs() {
    let raw = tempfile::tempdir().unwrap();
    let sampler = Sampler::start(fixture_config(ProbeKind::Processes, raw.path())).unwrap();
    sampler.follow(4300, "engine").unwrap();
    sampler.stop().unwrap();
    let expected = [(4300, "engine"), (4301, "engine")];
    assert_eq!(accounts(raw.path()), expected.map(|(pid, name)| (pid, name.to_owned())));
}

#[test]
fn a_process_that_vanished_has_no_more_rows() {
    let raw = tempfile::tempdir().unwrap();
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let followed =
        vec![(child.id(), "engine".to_owned()), (std::process::id(), "driver".to_owned())];
    let config = SamplerConfig { followed, ..host_config(ProbeKind::Processes, raw.path()) };
    let sampler = Sampler::start(config).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let report = sampler.stop().unwrap();
    assert_eq!(report.error, None);
    let path = raw.path().join("processes.arrows");
    let (pids, times) = (numbers(&path, "pid"), numbers(&path, "time_ns"));
    let child_rows = pids.iter().filter(|pid| **pid == Some(u64::from(child.id()))).count();
    assert!(child_rows >= 1, "the first sample was before the kill");
    let last = pids.iter().zip(&times).filter(|(_, time)| **time == times[times.len() - 1]);
    assert!(last.clone().count() >= 1);
    assert!(last.into_iter().all(|(pid, _)| *pid != Some(u64::from(child.id()))));
}

#[test]
fn counters_of_a_live_process_never_go_backwards() {
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(std::process::id(), "driver".to_owned())];
    let config = SamplerConfig { followed, ..host_config(ProbeKind::Processes, raw.path()) };
    let sampler = Sampler::start(config).unwrap();
    for _ in 0..20 {
        std::thread::spawn(|| std::hint::black_box(vec![1_u8; 1 << 20])).join().unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    sampler.stop().unwrap();
    let path = raw.path().join("processes.arrows");
    let pids = numbers(&path, "pid");
    for name in ["time_ns", "user_ns", "system_ns", "on_cpu_ns", "run_delay_ns", "timeslices"]
        .into_iter()
        .chain(["read_bytes", "minor_faults", "voluntary_switches", "involuntary_switches"])
    {
        let own = pids.iter().zip(numbers(&path, name));
        let own: Vec<_> = own
            .filter(|(pid, _)| **pid == Some(u64::from(std::process::id())))
            .map(|(_, value)| value)
            .collect();
        assert!(own.is_sorted(), "{name}: {own:?}");
    }
}

#[test]
fn a_process_that_nobody_follows_is_among_the_neighbours_with_its_name() {
    let raw = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let sampler = Sampler::start(host_config(ProbeKind::Neighbours, raw.path())).unwrap();
    let pid = u64::from(child.id());
    let path = raw.path().join("neighbours.arrows");
    let row = numbers(&path, "pid").iter().position(|number| *number == Some(pid)).unwrap();
    assert_eq!(texts(&path, "comm")[row].as_deref(), Some("sleep"));
    child.kill().unwrap();
    child.wait().unwrap();
    sampler.stop().unwrap();
    let rows_of_it = numbers(&path, "pid").iter().filter(|number| **number == Some(pid)).count();
    assert_eq!(rows_of_it, 1, "a process that used nothing has one row");
}

#[test]
fn a_probe_confesses_its_cost() {
    let raw = tempfile::tempdir().unwrap();
    let report = play(fixture_config(ProbeKind::Disks, raw.path()));
    let cost = raw.path().join("probe-disks.arrows");
    assert_eq!(texts(&cost, "probe")[0].as_deref(), Some("disks"));
    assert_eq!(numbers(&cost, "samples").last(), Some(&Some(report.samples)));
    assert_eq!(numbers(&cost, "longest_ns").last(), Some(&Some(report.longest_ns)));
    assert!(report.cpu_ns > 0);
}

#[test]
fn a_probe_that_may_cost_little_looks_less_often_and_says_so() {
    let raw = tempfile::tempdir().unwrap();
    let followed = vec![(std::process::id(), "driver".to_owned())];
    let config = SamplerConfig { followed, ..host_config(ProbeKind::Processes, raw.path()) };
    let interval = config.interval;
    let sampler =
        Sampler::start(SamplerConfig { core_share_max: Some(1e-6), ..config.clone() }).unwrap();
    // What a look costs is known after ten of them.
    std::thread::sleep(20 * interval + Duration::from_millis(200));
    let report = sampler.stop().unwrap();
    assert!(report.interval_ns > interval.as_nanos() as i64, "{report:?}");
    let other = tempfile::tempdir().unwrap();
    let report = play(SamplerConfig { raw_dir: other.path().to_owned(), ..config });
    assert_eq!(report.interval_ns, interval.as_nanos() as i64);
}

#[test]
fn the_first_sample_is_on_disk_when_start_returns() {
    let raw = tempfile::tempdir().unwrap();
    let sampler = Sampler::start(fixture_config(ProbeKind::System, raw.path())).unwrap();
    assert!(!numbers(&raw.path().join("system.arrows"), "time_ns").is_empty());
    sampler.stop().unwrap();
}

#[test]
fn a_start_that_cannot_succeed_says_why() {
    let raw = tempfile::tempdir().unwrap();
    let missing = raw.path().join("missing");
    let start_error = |config| Sampler::start(config).err().unwrap().to_string();
    assert!(start_error(fixture_config(ProbeKind::System, &missing)).contains("missing/"));
    let followed = vec![(1, "engine".to_owned())];
    let config = SamplerConfig { followed, ..fixture_config(ProbeKind::Disks, raw.path()) };
    assert!(matches!(Sampler::start(config), Err(ObserveError::FollowsNothing(ProbeKind::Disks))));
    std::fs::create_dir(raw.path().join("proc")).unwrap();
    std::fs::write(raw.path().join("proc/diskstats"), "8 0 sda x").unwrap();
    let proc_root = assay_kernel::ProcRoot(raw.path().join("proc"));
    let config = SamplerConfig { proc_root, ..fixture_config(ProbeKind::Disks, raw.path()) };
    let line = r#"proc/diskstats: cannot read reads as a number in line "8 0 sda x""#;
    let message = start_error(config);
    assert!(message.ends_with(line), "{message}");
}

/// Python's objects may move between threads, and the driver's meter lives in a thread of its own.
#[test]
fn sampler_and_meter_may_move_between_threads() {
    fn movable<T: Send + Sync>() {}
    movable::<Sampler>();
    movable::<assay_observe::ProcessMeter>();
    movable::<assay_observe::ServerMeter>();
}
