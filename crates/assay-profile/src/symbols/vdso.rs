//! Names in the file that the kernel maps into every process; ours has the same.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Resolved, resolve_elf};

const BYTES_MAX: u64 = 1 << 20;

pub(super) fn resolve(addresses: &[u64], proc_root: &Path) -> Resolved {
    match bytes(&proc_root.join("self")) {
        Ok(elf) => Resolved { symbols: resolve_elf(&elf, None, addresses), notes: Vec::new() },
        Err(error) => {
            let note =
                format!("Functions of the [vdso] have no names: it cannot be read: {error}.");
            Resolved::nothing(addresses, note)
        }
    }
}

fn bytes(process: &Path) -> io::Result<Vec<u8>> {
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
