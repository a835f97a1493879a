//! The one file that trials read and write. It has no name, so that it goes with the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use rustix::io::Errno;

use super::buffer::AlignedBuffer;
use crate::CeilingError;

/// Written at once while the file is filled.
const CHUNK_BYTES: u64 = 4 << 20;
/// No device asks for a larger alignment than that.
pub const DIRECT_ALIGN_MAX: u64 = 64 << 10;
const DIRECT_ALIGN_MIN: u64 = 512;

/// A file of random bytes, open once past the page cache and once through it.
#[derive(Debug)]
pub struct TrialFile {
    directory: PathBuf,
    direct: File,
    buffered: File,
    size_bytes: u64,
    written_bytes: u64,
    direct_align_bytes: u64,
    chunk: AlignedBuffer,
}

impl TrialFile {
    /// Makes the file and has the file system set its blocks apart; they hold nothing yet.
    ///
    /// # Errors
    /// `NoDirect` where the file system has no `O_DIRECT`, `Full` where it has not enough room.
    pub fn create(directory: &Path, size_bytes: u64) -> Result<Self, CeilingError> {
        let failed = |what| move |error| CeilingError::file(what, directory, error);
        let buffered = unnamed(directory).map_err(failed("cannot make a file"))?;
        let direct = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(format!("/proc/self/fd/{}", buffered.as_raw_fd()))
            .map_err(|source| CeilingError::NoDirect { directory: directory.to_owned(), source })?;
        let size_bytes = size_bytes.next_multiple_of(CHUNK_BYTES);
        let mut file = Self {
            directory: directory.to_owned(),
            direct,
            buffered,
            size_bytes,
            written_bytes: 0,
            direct_align_bytes: 0,
            chunk: AlignedBuffer::random(CHUNK_BYTES as usize, 1),
        };
        file.set_apart()?;
        file.direct_align_bytes = file.found_alignment()?;
        Ok(file)
    }

    /// Writes random bytes behind those that were written; returns how many there are.
    ///
    /// # Errors
    /// `Full` where there is no room left.
    pub fn fill(&mut self, at_most_bytes: u64) -> Result<u64, CeilingError> {
        let end = self.size_bytes.min(self.written_bytes + at_most_bytes);
        while self.written_bytes < end {
            self.number_chunk(self.written_bytes / CHUNK_BYTES);
            let written = self.direct.write_all_at(&self.chunk, self.written_bytes);
            written.map_err(|source| self.refused("cannot write", source))?;
            self.written_bytes += CHUNK_BYTES;
        }
        if self.written_bytes >= self.size_bytes {
            self.sync()?;
        }
        Ok(self.written_bytes)
    }

    /// Its bytes.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// What sizes and places of `O_DIRECT` are multiples of here.
    pub const fn direct_align_bytes(&self) -> u64 {
        self.direct_align_bytes
    }

    /// The number of the device that its file system tells.
    pub fn device_number(&self) -> Result<u64, CeilingError> {
        let metadata = self.buffered.metadata();
        Ok(metadata.map_err(|source| self.refused("cannot look at the file", source))?.dev())
    }

    /// Has all that was written on the device.
    pub fn sync(&self) -> Result<(), CeilingError> {
        self.buffered.sync_all().map_err(|source| self.refused("cannot flush", source))
    }

    /// Takes the file out of the page cache.
    pub fn evict(&self) -> Result<(), CeilingError> {
        self.sync()?;
        fadvise(&self.buffered, 0, None, Advice::DontNeed)
            .map_err(|errno| self.refused("cannot evict the file's pages", errno.into()))
    }

    pub(super) const fn direct(&self) -> &File {
        &self.direct
    }

    pub(super) const fn buffered(&self) -> &File {
        &self.buffered
    }

    /// An error with the place where it was made.
    pub(super) fn refused(&self, what: &'static str, source: io::Error) -> CeilingError {
        if matches!(source.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT)) {
            return CeilingError::Full {
                directory: self.directory.clone(),
                written_bytes: self.written_bytes,
                size_bytes: self.size_bytes,
            };
        }
        CeilingError::file(what, &self.directory, source)
    }

    /// Makes the chunk another one: of blocks that are alike some file systems keep one.
    fn number_chunk(&mut self, number: u64) {
        let changed = (number ^ number.saturating_sub(1)).to_le_bytes();
        for block in self.chunk.chunks_mut(DIRECT_ALIGN_MIN as usize) {
            block.iter_mut().zip(changed).for_each(|(byte, bits)| *byte ^= bits);
        }
    }

    /// Blocks that are set apart at once lie together. Not every file system does that.
    fn set_apart(&self) -> Result<(), CeilingError> {
        match fallocate(&self.direct, FallocateFlags::empty(), 0, self.size_bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(errno) => Err(self.refused("cannot set blocks apart", errno.into())),
        }
    }

    /// The smallest size at whose multiples the kernel takes `O_DIRECT`.
    fn found_alignment(&mut self) -> Result<u64, CeilingError> {
        // Where blocks cannot be set apart there would be nothing to read.
        self.fill(CHUNK_BYTES)?;
        let mut block = AlignedBuffer::random(DIRECT_ALIGN_MAX as usize, 0);
        let mut size = DIRECT_ALIGN_MIN;
        loop {
            let read = self.direct.read_exact_at(&mut block[..size as usize], size);
            match read {
                Ok(()) => return Ok(size),
                Err(error)
                    if error.raw_os_error() == Some(libc::EINVAL) && size < DIRECT_ALIGN_MAX =>
                {
                    size *= 2;
                }
                Err(source) => {
                    return Err(CeilingError::NoDirect {
                        directory: self.directory.clone(),
                        source,
                    });
                }
            }
        }
    }
}

/// A file without a name; one whose name is taken away at once where there is nothing better.
fn unnamed(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.clone().custom_flags(libc::O_TMPFILE).open(directory) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR)) => {}
        opened => return opened,
    }
    let path = directory.join(format!(".assay-ceiling-{}", process::id()));
    let file = options.create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
