//! Every parser against the fixtures, and against lines that are not as documented.

use std::path::Path;

use assay_kernel::parse::cgroup::{Hierarchy, Mount, Throttling, group, has_quota, mount};
use assay_kernel::parse::{
    Cpu, Disk, Io, Memory, Pressure, ProcessStat, SchedStat, SmapsRollup, Statm, Status,
    SystemCall, SystemStat, VmStat,
};
use assay_kernel::{KernelError, Units};

/// A folder that stands for `/proc`.
const PROC_FIXTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../assay-observe/tests/fixtures/proc");
const UNITS: Units = Units { tick_ns: 10_000_000, page_bytes: 4096 };

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(PROC_FIXTURE).join(name)).unwrap()
}

fn path() -> &'static Path {
    Path::new("fixture")
}

fn message<T: std::fmt::Debug>(result: Result<T, KernelError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn stat_gives_each_cpu_and_the_tasks() {
    let stat = SystemStat::parse(path(), &fixture("stat"), &UNITS).unwrap();
    assert_eq!(stat.cpus.len(), 2);
    let expected = Cpu {
        cpu: 1,
        user_ns: 247_000_000_000,
        nice_ns: 0,
        system_ns: 76_490_000_000,
        idle_ns: 1_973_070_000_000,
        iowait_ns: Some(5_780_000_000),
        irq_ns: Some(0),
        softirq_ns: Some(740_000_000),
        steal_ns: Some(240_000_000),
        guest_ns: Some(0),
        guest_nice_ns: Some(0),
    };
    assert_eq!(stat.cpus[1], expected);
    assert_eq!(stat.context_switches, Some(675_054));
    assert_eq!(stat.tasks_created, Some(17_745));
    assert_eq!((stat.procs_running, stat.procs_blocked), (Some(1), Some(0)));
}

#[test]
fn an_old_kernels_cpu_line_has_absent_fields() {
    let stat = SystemStat::parse(path(), b"cpu0 1 2 3 4\n", &UNITS).unwrap();
    assert_eq!(stat.cpus[0].idle_ns, 40_000_000);
    assert_eq!(stat.cpus[0].steal_ns, None);
    assert_eq!(stat.context_switches, None);
}

#[test]
fn a_bad_cpu_line_names_its_field() {
    let refusal = message(SystemStat::parse(path(), b"cpu0 1 2 x 4\n", &UNITS));
    assert_eq!(refusal, r#"fixture: cannot read system as a number in line "cpu0 1 2 x 4""#);
    assert!(message(SystemStat::parse(path(), b"cpu0 1 2", &UNITS)).contains("system"));
    let too_large = b"cpu0 18446744073709551615 0 0 0";
    assert!(message(SystemStat::parse(path(), too_large, &UNITS)).contains("user"));
    assert!(message(SystemStat::parse(path(), b"ctxt", &UNITS)).contains("ctxt"));
}

#[test]
fn meminfo_is_in_bytes() {
    let text = b"MemTotal:  8 kB\nDirty:  0 kB\nHugetlb: 3 kB\nHugePages_Total: 5\nNew: x\n";
    let memory = Memory::parse(path(), text).unwrap();
    let expected = Memory {
        total_bytes: Some(8192),
        dirty_bytes: Some(0),
        hugetlb_bytes: Some(3072),
        ..Memory::default()
    };
    assert_eq!(memory, expected);
    assert!(message(Memory::parse(path(), b"Dirty: - kB")).contains("Dirty"));
    assert!(message(Memory::parse(path(), b"Dirty:")).contains("Dirty"));
}

#[test]
fn the_captured_meminfo_has_all_fields_of_this_kernel() {
    let memory = Memory::parse(path(), &fixture("meminfo")).unwrap();
    let shown = format!("{memory:?}");
    assert!(!shown.contains("None"), "{shown}");
}

#[test]
fn vmstat_converts_what_is_in_kibibytes() {
    let text = b"pgpgin 3\npgpgout 0\npswpin 7\npgfault 9\noom_kill 1\nunknown -4\n";
    let vmstat = VmStat::parse(path(), text).unwrap();
    let expected = VmStat {
        pgpgin_bytes: Some(3072),
        pgpgout_bytes: Some(0),
        pswpin_pages: Some(7),
        pgfault: Some(9),
        oom_kill: Some(1),
        ..VmStat::default()
    };
    assert_eq!(vmstat, expected);
    let captured = format!("{:?}", VmStat::parse(path(), &fixture("vmstat")).unwrap());
    assert!(!captured.contains("None"), "{captured}");
    assert!(message(VmStat::parse(path(), b"pgpgin 18446744073709551615")).contains("pgpgin"));
}

#[test]
fn pressure_is_in_nanoseconds_and_old_kernels_have_no_full_cpu() {
    let io = Pressure::parse(path(), &fixture("pressure/io")).unwrap();
    assert_eq!(io.some_ns, Some(5_643_068_000));
    assert_eq!(io.full_ns, Some(5_013_708_000));
    let cpu = Pressure::parse(path(), b"some avg10=0.00 total=7\n").unwrap();
    assert_eq!(cpu, Pressure { some_ns: Some(7_000), full_ns: None });
    assert!(message(Pressure::parse(path(), b"some avg10=0.00")).contains("total"));
}

#[test]
fn diskstats_leaves_idle_loop_and_zram_devices_out() {
    let disks = Disk::parse_all(path(), &fixture("diskstats")).unwrap();
    let names: Vec<&str> = disks.iter().map(|disk| disk.device.as_str()).collect();
    assert_eq!(names, ["loop1", "vda", "vda1", "dm-0"]);
    let expected = Disk {
        device: "vda".to_owned(),
        reads: 33_052,
        reads_merged: 7_734,
        read_bytes: 4_899_386 * 512,
        read_ns: 12_793_000_000,
        writes: 6_998,
        writes_merged: 22_655,
        write_bytes: 2_858_328 * 512,
        write_ns: 4_773_000_000,
        in_flight: 2,
        io_ns: 4_296_000_000,
        weighted_io_ns: 17_748_000_000,
        discards: Some(3_464),
        discards_merged: Some(34),
        discard_bytes: Some(157_560 * 512),
        discard_ns: Some(171_000_000),
        flushes: Some(336),
        flush_ns: Some(10_000_000),
    };
    assert_eq!(disks[1], expected);
    assert_eq!((disks[2].discards, disks[2].flushes), (None, None), "Linux before 4.18");
    assert_eq!((disks[3].discards, disks[3].flushes), (Some(1), None), "Linux before 5.5");
    assert!(message(Disk::parse_all(path(), b"8 0 sda 1 2 3")).contains("ms reading"));
    assert!(message(Disk::parse_all(path(), b"8 0")).contains("device"));
}

#[test]
fn a_process_name_may_hold_parentheses_spaces_and_line_ends() {
    let stat = ProcessStat::parse(path(), &fixture("4242/stat"), &UNITS).unwrap();
    let expected = ProcessStat {
        pid: 4242,
        comm: "a) R (b c".to_owned(),
        state: 'S',
        ppid: 1,
        pgrp: Some(4240),
        minor_faults: 1234,
        major_faults: 56,
        children_minor_faults: 99,
        children_major_faults: 7,
        user_ns: 2_500_000_000,
        system_ns: 1_300_000_000,
        children_user_ns: 110_000_000,
        children_system_ns: 120_000_000,
        threads: 2,
        started_ns: 987_650_000_000,
        rss_bytes: 2048 * 4096,
        block_delay_ns: Some(420_000_000),
    };
    assert_eq!(stat, expected);
    let broken = String::from_utf8(fixture("4242/stat")).unwrap().replace("R (b", "\n)\n(");
    let stat = ProcessStat::parse(path(), broken.as_bytes(), &UNITS).unwrap();
    assert_eq!(stat, ProcessStat { comm: "a) \n)\n( c".to_owned(), ..expected });
}

#[test]
fn a_process_that_is_being_taken_away_has_no_group() {
    let text = String::from_utf8(fixture("77/stat")).unwrap().replace("S 1 4240", "X 0 -1");
    let stat = ProcessStat::parse(path(), text.as_bytes(), &UNITS).unwrap();
    assert_eq!((stat.state, stat.ppid, stat.pgrp), ('X', 0, None));
}

#[test]
fn a_bad_process_line_names_its_field() {
    for (text, field) in [
        (&b""[..], "comm"),
        (b"1 )(", "comm"),
        (b"x (a) S 1", "pid"),
        (b"1 (a)", "state"),
        (b"1 (a) ? 1", "state"),
        (b"1 (a) S -1", "ppid"),
        (b"1 (a) S 1 1 0 0 0 0 7 0 x", "majflt"),
    ] {
        let refusal = message(ProcessStat::parse(path(), text, &UNITS));
        assert!(refusal.contains(&format!("cannot read {field} ")), "{refusal}");
    }
}

#[test]
fn schedstat_is_three_numbers() {
    let stat = SchedStat::parse(path(), &fixture("4242/task/4242/schedstat")).unwrap();
    let expected =
        SchedStat { on_cpu_ns: 2_500_000_001, run_delay_ns: 30_000_002, timeslices: 4003 };
    assert_eq!(stat, expected);
    assert!(message(SchedStat::parse(path(), b"1 2")).contains("timeslices"));
}

#[test]
fn io_status_and_rollup_are_in_bytes() {
    let io = Io::parse(path(), &fixture("4242/io")).unwrap();
    assert_eq!((io.read_bytes, io.write_bytes), (Some(24_117_248), Some(8_192)));
    assert_eq!((io.rchar_bytes, io.syscw), (Some(1_000), Some(4)));
    let status = Status::parse(path(), &fixture("4242/status")).unwrap();
    let expected = Status {
        rss_bytes: Some(8192 * 1024),
        rss_peak_bytes: Some(12_000 * 1024),
        voluntary_switches: Some(700),
        involuntary_switches: Some(30),
    };
    assert_eq!(status, expected);
    let rollup = SmapsRollup::parse(path(), &fixture("4242/smaps_rollup")).unwrap();
    assert_eq!(rollup.pss_bytes, Some(461 * 1024));
    assert!(message(Io::parse(path(), b"read_bytes: many")).contains("read_bytes"));
}

#[test]
fn a_kernel_that_does_not_say_so_counts_no_block_delay() {
    let root = tempfile::tempdir().unwrap();
    let proc_root = assay_kernel::ProcRoot(root.path().to_owned());
    assert!(!proc_root.counts_block_delay());
    std::fs::create_dir_all(proc_root.join("sys/kernel")).unwrap();
    for (text, counts) in [("0\n", false), ("1\n", true)] {
        std::fs::write(proc_root.join("sys/kernel/task_delayacct"), text).unwrap();
        assert_eq!(proc_root.counts_block_delay(), counts);
    }
}

#[test]
fn memory_in_pages_becomes_bytes() {
    let units = Units { tick_ns: 10_000_000, page_bytes: 4096 };
    let path = Path::new("/proc/1/statm");
    let statm = Statm::parse(path, b"41303 5219 4820 1 0 380 0\n", &units).unwrap();
    assert_eq!(statm, Statm { rss_bytes: 5219 * 4096, shared_bytes: 4820 * 4096 });
    assert_eq!(statm.private_bytes(), 399 * 4096);
    let error = Statm::parse(path, b"41303 5219 x", &units).unwrap_err().to_string();
    assert!(error.contains("/proc/1/statm: cannot read shared"), "{error}");
}

#[test]
fn a_system_call_has_its_number_and_a_futex_call_its_address() {
    let parse = |text: &[u8]| SystemCall::parse(path(), text).unwrap();
    let call = |number, address| Some(SystemCall { number, address });
    assert_eq!(parse(b"running\n"), None);
    assert_eq!(parse(b"-1 0x7ffd 0x7f6b\n"), call(-1, None));
    assert_eq!(parse(b"0 0x3 0x7f6b 0x20000 0x0 0x0 0x0 0x7ffd 0x7f6b\n"), call(0, None));
    let futex = format!("{} 0x7f6b62099000 0x80 0x0 0x0 0x0 0x0 0x1 0x2\n", libc::SYS_futex);
    let address = Some(0x7f6b_6209_9000);
    assert_eq!(parse(futex.as_bytes()), call(libc::SYS_futex, address));
    assert_eq!(parse(b"455 0x10 0x0"), call(455, Some(16)));
}

#[test]
fn a_bad_system_call_names_its_field() {
    let refusal = |text: &[u8]| message(SystemCall::parse(path(), text));
    assert!(refusal(b"futex 0x1").contains("number of the call"));
    for bad in [&b"455 16"[..], b"455 0x", b"455 0x+1", b"455", b"455 0x1ffffffffffffffff"] {
        assert!(refusal(bad).contains("cannot read address"), "{bad:?}");
    }
}

#[test]
fn the_group_of_a_process_in_either_version() {
    let text = b"9:name=systemd:/\n2:cpuacct:/a\n1:cpu,cpuacct:/b:c/d\n0::/unified\n";
    assert_eq!(group(text, Hierarchy::Cpu), Some("/b:c/d".into()));
    assert_eq!(group(text, Hierarchy::Unified), Some("/unified".into()));
    assert_eq!(group(b"2:cpuacct:/a\n", Hierarchy::Cpu), None);
    assert_eq!(group(b"torn", Hierarchy::Unified), None);
}

#[test]
fn the_mount_of_either_version() {
    let text = b"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n\
        32 31 0:29 /docker/7 /sys/fs/cgroup/cpu rw,relatime shared:5 - cgroup cgroup rw,cpu\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    let mounted = |root: &str, point: &str| Some(Mount { root: root.into(), point: point.into() });
    assert_eq!(mount(text, Hierarchy::Cpu), mounted("/docker/7", "/sys/fs/cgroup/cpu"));
    assert_eq!(mount(text, Hierarchy::Unified), mounted("/", "/sys/fs/cgroup/unified"));
    assert_eq!(mount(b"1 2 3 / /sys - sysfs sysfs rw\n", Hierarchy::Unified), None);
}

#[test]
fn a_quota_is_a_number() {
    assert!(has_quota(b"20000\n") && has_quota(b"20000 100000\n"));
    assert!(!has_quota(b"-1\n") && !has_quota(b"max 100000\n") && !has_quota(b""));
}

#[test]
fn throttling_is_in_nanoseconds_in_either_version() {
    let expected = Some(Throttling { periods: 41, throttled_periods: 40, throttled_ns: 7_000 });
    let first = b"nr_periods 41\nnr_throttled 40\nthrottled_time 7000\nnr_bursts 0\n";
    assert_eq!(Throttling::parse(path(), first).unwrap(), expected);
    let second = b"usage_usec 9\nnr_periods 41\nnr_throttled 40\nthrottled_usec 7\n";
    assert_eq!(Throttling::parse(path(), second).unwrap(), expected);
    let root = b"usage_usec 9\nuser_usec 5\n";
    assert_eq!(Throttling::parse(path(), root).unwrap(), None);
}
