//! How much of a file is in memory.

use std::fs::File;
use std::io;
use std::path::Path;

use assay_kernel::open_regular;
use memmap2::{Mmap, MmapOptions};

use crate::{ObserveError, Units};

/// Mapped and asked about at once: a byte a page is needed for the answer.
const WINDOW_BYTES: u64 = 1 << 30;

/// Bytes of a file that are in the page cache. Nothing of it is read for the answer.
///
/// The kernel tells the truth to who owns the file or may write it; to others everything is in memory.
///
/// # Errors
/// If the file cannot be opened or mapped.
pub fn resident_bytes(path: &Path) -> Result<u64, ObserveError> {
    count(path, WINDOW_BYTES).map_err(|error| ObserveError::io(path, error))
}

fn count(path: &Path, window_bytes: u64) -> io::Result<u64> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    let page_bytes = Units::of_host().page_bytes;
    let mut resident = 0;
    let mut offset = 0;
    while offset < size {
        let length = window_bytes.min(size - offset);
        resident += resident_pages(&file, offset, length, page_bytes)? * page_bytes;
        offset += length;
    }
    Ok(resident.min(size))
}

fn resident_pages(file: &File, offset: u64, length: u64, page_bytes: u64) -> io::Result<u64> {
    let mut options = MmapOptions::new();
    options.offset(offset).len(length as usize);
    #[expect(unsafe_code, reason = "none of its bytes is ever looked at")]
    let map: Mmap = unsafe { options.map(file) }?;
    let mut pages = vec![0_u8; length.div_ceil(page_bytes) as usize];
    #[expect(unsafe_code, reason = "the kernel fills in one byte for each page of the mapping")]
    let failed = unsafe {
        libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr().cast())
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    // The other bits are the kernel's to use.
    Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const SIZE: usize = 10 * 4096 + 7;

    #[test]
    fn what_was_just_written_is_in_memory_to_its_last_byte() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; SIZE]).unwrap();
        assert_eq!(resident_bytes(file.path()).unwrap(), SIZE as u64);
    }

    #[test]
    fn windows_add_up() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&vec![1; SIZE]).unwrap();
        assert_eq!(count(file.path(), 2 * Units::of_host().page_bytes).unwrap(), SIZE as u64);
    }

    #[test]
    fn a_hole_is_not_in_memory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(SIZE as u64).unwrap();
        assert_eq!(resident_bytes(file.path()).unwrap(), 0);
    }

    #[test]
    fn an_empty_file_has_nothing_to_map() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(resident_bytes(file.path()).unwrap(), 0);
    }

    #[test]
    fn an_error_names_the_file() {
        let error = resident_bytes(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at/all: "), "{error}");
    }
}
