//! The bytes of a file with code.

use std::io;
use std::ops::Deref;
use std::path::Path;

use assay_kernel::open_regular;
use memmap2::Mmap;
use object::Object;

/// A file, mapped.
pub(super) struct Image(Mmap);

impl Image {
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        // A file that is cut while it is mapped ends the process. Programs and libraries are replaced
        // and not rewritten, because that would end every process that runs them, too.
        #[expect(unsafe_code, reason = "only for reading, of files that run")]
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self(map))
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// The build id in an ELF file, in hexadecimal; none if it has none or is not ELF.
pub(super) fn build_id_of(elf: &[u8]) -> Option<String> {
    let id = object::File::parse(elf).ok()?.build_id().ok()??;
    Some(hexadecimal(id))
}

/// Bytes as a build id is written.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// The build id of the file at `path`, in hexadecimal; none if it cannot be read or has none.
pub fn build_id(path: &Path) -> Option<String> {
    build_id_of(&Image::open(path).ok()?)
}
