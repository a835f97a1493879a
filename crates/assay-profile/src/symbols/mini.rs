//! The small symbol table that some distributions leave in a stripped file, compressed.

use std::io::{self, Write};

use object::{File, Object, ObjectSection};

/// What a real one unpacks to is a few megabytes.
const UNPACKED_BYTES_MAX: usize = 256 << 20;

/// The ELF file in `.gnu_debugdata`; none if there is none, or none that can be read.
pub(super) fn unpacked(elf: &File) -> Option<Vec<u8>> {
    let packed = elf.section_by_name(".gnu_debugdata")?.data().ok()?;
    let mut unpacked = Bounded(Vec::new());
    lzma_rs::xz_decompress(&mut &packed[..], &mut unpacked).ok()?;
    Some(unpacked.0)
}

/// Bytes that refuse to grow without end.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > UNPACKED_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
