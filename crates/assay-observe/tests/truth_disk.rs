//! Bytes read from storage against `dd`, which says itself how much it read.

mod common;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay_kernel::parse::ProcessStat;
use assay_observe::{ProbeKind, Sampler, SamplerConfig, Units};
use common::{host_config, numbers, texts};

const MEBIBYTE: u64 = 1024 * 1024;
const FILE_BYTES: u64 = 23 * MEBIBYTE;
/// The program and its libraries are read as well if they are not in the page cache.
const TOLERANCE_BYTES: u64 = MEBIBYTE;

/// A file that is on the device and nowhere else.
fn fresh_file(path: &Path) {
    let mut file = File::create(path).unwrap();
    for block in 0..FILE_BYTES / MEBIBYTE {
        file.write_all(&vec![block as u8; MEBIBYTE as usize]).unwrap();
    }
    file.sync_all().unwrap();
}

/// Starts `dd` in a state in which it has run but can still be looked at: ended, not yet reaped.
fn ended_dd(path: &Path) -> Child {
    let child = Command::new("dd")
        .arg(format!("if={}", path.display()))
        .args(["of=/dev/null", "bs=1M", "iflag=direct"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stat = Path::new("/proc").join(child.id().to_string()).join("stat");
    let units = Units::of_host();
    let state = || ProcessStat::parse(&stat, &std::fs::read(&stat).unwrap(), &units).unwrap().state;
    while state() != 'Z' {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// What the devices that are no part of others have read, at the first and the last sample.
fn read_by_disks(disks: &Path) -> Option<(u64, u64)> {
    let times = numbers(disks, "time_ns");
    let kinds = texts(disks, "kind");
    let rows = times.iter().zip(kinds).zip(numbers(disks, "read_bytes"));
    let real: Vec<_> = rows.filter(|((_, kind), _)| kind.as_deref() == Some("disk")).collect();
    let sum_at = |time: &Option<u64>| -> u64 {
        real.iter().filter(|((at, _), _)| *at == time).filter_map(|(_, bytes)| *bytes).sum()
    };
    Some((sum_at(real.first()?.0.0), sum_at(real.last()?.0.0)))
}

#[test]
fn bytes_read_against_dd() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (raw, file) = (folder.path(), folder.path().join("fresh"));
    fresh_file(&file);
    let disks = Sampler::start(host_config(ProbeKind::Disks, raw)).unwrap();
    let child = ended_dd(&file);
    disks.stop().unwrap();
    let followed = vec![(child.id(), "engine".to_owned())];
    let config = SamplerConfig { followed, ..host_config(ProbeKind::Processes, raw) };
    Sampler::start(config).unwrap().stop().unwrap();
    let output = child.wait_with_output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: no direct I/O here: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let seen = numbers(&raw.join("processes.arrows"), "read_bytes").pop().flatten().unwrap();
    assert!(seen.abs_diff(FILE_BYTES) <= TOLERANCE_BYTES, "{seen} of {FILE_BYTES} bytes");
    let Some((before, after)) = read_by_disks(&raw.join("disks.arrows")) else {
        eprintln!("SKIPPED: this host shows no disk of its own");
        return;
    };
    // Others may read at the same time, so there is no upper bound.
    assert!(after - before >= FILE_BYTES, "the disks read {before}, then {after}");
}
