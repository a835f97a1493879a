//! The code that the kernel maps into every process, from our own memory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const BYTES_MAX: u64 = 1 << 20;

/// The file, of a process whose memory we may read: as a rule ourselves.
pub(crate) fn bytes(process: &Path) -> io::Result<Vec<u8>> {
    let maps = fs::read_to_string(process.join("maps"))?;
    let (start, end) = maps
        .lines()
        .find_map(range)
        .ok_or_else(|| io::Error::other("this process has none mapped"))?;
    let size = end.saturating_sub(start).min(BYTES_MAX);
    let mut bytes = vec![0; size as usize];
    File::open(process.join("mem"))?.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

fn range(line: &str) -> Option<(u64, u64)> {
    let range = line.strip_suffix("[vdso]")?.split_ascii_whitespace().next()?;
    let (start, end) = range.split_once('-')?;
    Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
}
