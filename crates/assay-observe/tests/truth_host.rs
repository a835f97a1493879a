//! Counters of the host against the tools that everybody reads them with.

use std::path::Path;
use std::process::Command;

use assay_kernel::parse::{Memory, SystemStat, VmStat};
use assay_observe::Units;

/// What a tool prints, or nothing, said loudly, if the host has it not.
fn output(program: &str, argument: &str) -> Option<String> {
    let Ok(output) = Command::new(program).arg(argument).output() else {
        eprintln!("SKIPPED: {program} is not installed (Debian: procps)");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap())
}

fn read(name: &str) -> (std::path::PathBuf, Vec<u8>) {
    let path = Path::new("/proc").join(name);
    let text = std::fs::read(&path).unwrap();
    (path, text)
}

/// Counters of both files under the labels of `vmstat -s`.
fn counters() -> Vec<(&'static str, u64)> {
    let (path, text) = read("stat");
    let stat = SystemStat::parse(&path, &text, &Units::of_host()).unwrap();
    let (path, text) = read("vmstat");
    let vmstat = VmStat::parse(&path, &text).unwrap();
    vec![
        ("CPU context switches", stat.context_switches.unwrap()),
        ("forks", stat.tasks_created.unwrap()),
        ("paged in", vmstat.pgpgin_bytes.unwrap() / 1024),
        ("paged out", vmstat.pgpgout_bytes.unwrap() / 1024),
        ("pages swapped in", vmstat.pswpin_pages.unwrap()),
        ("pages swapped out", vmstat.pswpout_pages.unwrap()),
    ]
}

#[test]
fn memory_against_free() {
    let Some(printed) = output("free", "-b") else { return };
    let line = printed.lines().find(|line| line.starts_with("Mem:")).unwrap();
    let total: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let (path, text) = read("meminfo");
    assert_eq!(Memory::parse(&path, &text).unwrap().total_bytes, Some(total));
}

/// Counters only grow, so the tool's must lie between ours before and after: no tolerance.
#[test]
fn counters_against_vmstat() {
    let before = counters();
    let Some(printed) = output("vmstat", "-s") else { return };
    for ((label, before), (_, after)) in before.into_iter().zip(counters()) {
        let line = printed.lines().find(|line| line.ends_with(label)).unwrap();
        let value: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
        assert!((before..=after).contains(&value), "{label}: {before} <= {value} <= {after}");
    }
}
