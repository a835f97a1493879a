//! Trials on the disk that is there.

use std::path::{Path, PathBuf};

use super::*;

const FILE_BYTES: u64 = 16 << 20;
const TIME_NS: u64 = 20_000_000;

/// A directory on the disk that this was built on; the system's temporary one may be memory.
fn on_disk() -> (tempfile::TempDir, TrialFile) {
    let directory = tempfile::tempdir_in(PathBuf::from(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut file = TrialFile::create(directory.path(), FILE_BYTES).unwrap();
    while file.fill(4 << 20).unwrap() < FILE_BYTES {}
    (directory, file)
}

fn trial(operation: Operation, method: Method, depth: u32) -> DiskTrial {
    let flushes = matches!(operation, Operation::Fsync | Operation::Fdatasync);
    let cache = if flushes { Cache::Buffered } else { Cache::Direct };
    let pattern = Pattern::Random;
    DiskTrial {
        round: 1,
        operation,
        pattern,
        cache,
        method,
        depth,
        size_bytes: 4096,
        time_ns: TIME_NS,
    }
}

fn blocks_used(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn the_file_has_no_name() {
    let (directory, file) = on_disk();
    assert_eq!(blocks_used(directory.path()), 0);
    assert_eq!(file.size_bytes(), FILE_BYTES);
    assert!(file.direct_align_bytes() >= 512);
}

#[test]
fn every_method_makes_requests_and_tells_their_time() {
    let (_directory, file) = on_disk();
    let mut methods = vec![(Method::Calls, 1), (Method::Calls, 4)];
    if ring_refusal().is_none() {
        methods.extend([(Method::Ring, 1), (Method::Ring, 16)]);
    }
    for (method, depth) in methods {
        for operation in [Operation::Read, Operation::Write] {
            let counted = play(&file, &trial(operation, method, depth), 1).unwrap();
            let latencies = &counted.latencies;
            assert!(latencies.count() > 0);
            assert!(counted.elapsed >= Duration::from_nanos(TIME_NS));
            let taken = Duration::from_nanos(latencies.mean_ns() * latencies.count());
            let most = counted.elapsed.mul_f64(f64::from(depth) * 1.01);
            assert!(taken <= most, "{taken:?} of {most:?}: {method:?} {depth}");
        }
    }
}

#[test]
fn the_device_reads_what_we_ask_for() {
    let (_directory, file) = on_disk();
    let number = file.device_number().unwrap();
    let Some(path) = DeviceCounters::path(Path::new("/sys"), number) else { return };
    let before = DeviceCounters::read(&path).unwrap();
    let asked = trial(Operation::Read, Method::Calls, 1);
    let counted = play(&file, &asked, 1).unwrap();
    let read = DeviceCounters::read(&path).unwrap().since(before).read;
    assert!(read.requests >= counted.latencies.count());
    assert!(read.bytes >= counted.latencies.count() * asked.size_bytes);
}

#[test]
fn flushes_are_timed() {
    let (_directory, file) = on_disk();
    for operation in [Operation::Fsync, Operation::Fdatasync] {
        let counted = play(&file, &trial(operation, Method::Calls, 1), 1).unwrap();
        assert!(counted.latencies.count() > 0);
    }
}

#[test]
fn sequential_requests_through_the_page_cache_are_fewer_of_the_device() {
    let (_directory, file) = on_disk();
    let number = file.device_number().unwrap();
    let Some(path) = DeviceCounters::path(Path::new("/sys"), number) else { return };
    let asked = DiskTrial {
        cache: Cache::Buffered,
        pattern: Pattern::Sequential,
        ..trial(Operation::Read, Method::Calls, 1)
    };
    let before = DeviceCounters::read(&path).unwrap();
    let counted = play(&file, &asked, 1).unwrap();
    let read = DeviceCounters::read(&path).unwrap().since(before).read;
    assert!(read.requests > 0, "the file was not evicted");
    assert!(read.requests < counted.latencies.count());
}

#[test]
fn what_is_on_disk_cannot_be_made_smaller() {
    use std::os::unix::fs::FileExt;

    let (_directory, file) = on_disk();
    let mut blocks = vec![[0_u8; 512]; (FILE_BYTES / 512) as usize];
    for (number, block) in blocks.iter_mut().enumerate() {
        file.buffered().read_exact_at(block, number as u64 * 512).unwrap();
    }
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len() as u64, FILE_BYTES / 512);
}

#[test]
fn wrong_trials_are_refused_with_the_reason() {
    let (_directory, file) = on_disk();
    let right = trial(Operation::Read, Method::Calls, 1);
    let refused = [
        (DiskTrial { depth: 0, ..right }, "under way at once, not 0"),
        (DiskTrial { size_bytes: 0, ..right }, "not 0"),
        (DiskTrial { size_bytes: 100, ..right }, "multiples of"),
        (DiskTrial { size_bytes: 32 << 20, ..right }, "more than the file has"),
        (DiskTrial { cache: Cache::Buffered, method: Method::Ring, ..right }, "O_DIRECT"),
        (DiskTrial { operation: Operation::Fsync, ..right }, "through the page cache"),
    ];
    for (trial, expected) in refused {
        let error = play(&file, &trial, 1).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_place_that_is_not_there_is_named() {
    let error = TrialFile::create(Path::new("/nowhere"), FILE_BYTES).unwrap_err().to_string();
    assert_eq!(error, "cannot make a file in /nowhere: No such file or directory (os error 2)");
}

#[test]
fn a_file_system_without_direct_reads_is_refused() {
    let error = TrialFile::create(Path::new("/proc"), FILE_BYTES).unwrap_err().to_string();
    assert!(error.contains("/proc"), "{error}");
}
