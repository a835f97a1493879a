//! The code that the kernel maps into every process, from our own memory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use assay_kernel::parse::mappings;

use crate::modules::VDSO;

const BYTES_MAX: u64 = 1 << 20;

/// The file, of a process whose memory we may read: as a rule ourselves.
pub(crate) fn bytes(process: &Path) -> io::Result<Vec<u8>> {
    let maps = mappings(&fs::read(process.join("maps"))?);
    let vdso = maps.iter().find(|mapping| mapping.path == VDSO);
    let vdso = vdso.ok_or_else(|| io::Error::other("this process has none mapped"))?;
    let size = vdso.length.min(BYTES_MAX);
    let mut bytes = vec![0; size as usize];
    File::open(process.join("mem"))?.read_exact_at(&mut bytes, vdso.start)?;
    Ok(bytes)
}
