//! Kernel files that are read again and again: opened once, read from their beginning each time,
//! into a buffer that is used again. An open file of a process also cannot be confused with a
//! later process of the same number.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;

use crate::KernelError;

/// A shell's default limit is 1024 descriptors a process; the probes leave half of them to the
/// rest of it, and reopen the files beyond.
const KEPT_OPEN_MAX: usize = 512;
const BUFFER_BYTES: usize = 16 * 1024;
/// Longer than the line of any short file.
const SHORT_BYTES: usize = 1024;

/// Of these, so many are for what is read often: others close when no more are left.
const KEPT_FOR_BUSY: usize = 256;

static KEPT_OPEN: AtomicUsize = AtomicUsize::new(0);

/// Whether the kernel gives the whole text at the first read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One record: the files of a process.
    Record,
    /// Many records: up to a page at each read, then an empty one.
    Lines,
}

/// What a file is read into.
pub struct Buffer(Vec<u8>);

/// A file below a `ProcRoot`.
pub struct ProcFile {
    path: PathBuf,
    shape: Shape,
    open: Option<File>,
}

impl Buffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; BUFFER_BYTES])
    }
}

impl ProcFile {
    /// A file of a process; nothing is opened yet.
    pub fn record(path: PathBuf) -> Self {
        Self { path, shape: Shape::Record, open: None }
    }

    /// A file of the whole host; nothing is opened yet.
    pub fn lines(path: PathBuf) -> Self {
        Self { path, shape: Shape::Lines, open: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text as it is now; `None` if the file or its process is not there, or not ours to read.
    pub fn read<'b>(&mut self, buffer: &'b mut Buffer) -> Result<Option<&'b [u8]>, KernelError> {
        match self.read_now(buffer) {
            Ok(length) => Ok(buffer.0.get(..length)),
            Err(error) if is_absence(&error) => {
                self.close();
                Ok(None)
            }
            Err(error) => Err(KernelError::io(&self.path, error)),
        }
    }

    fn read_now(&mut self, buffer: &mut Buffer) -> io::Result<usize> {
        if let Some(file) = &self.open {
            return read_from_start(file, self.shape, buffer);
        }
        let file = File::open(&self.path)?;
        let length = read_from_start(&file, self.shape, buffer);
        if KEPT_OPEN.fetch_add(1, Ordering::Relaxed) < KEPT_OPEN_MAX {
            self.open = Some(file);
        } else {
            KEPT_OPEN.fetch_sub(1, Ordering::Relaxed);
        }
        length
    }

    /// Leaves the descriptor to other files; the next reading opens it anew.
    pub fn close(&mut self) {
        if self.open.take().is_some() {
            KEPT_OPEN.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A file of one short line that stays open: it cannot be confused with that of a later task of the
/// same number.
pub struct ShortFile(File);

impl ShortFile {
    /// Opens it.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Parses its text as it is now. `None`: its task is gone, or `parse` does not know the text.
    pub fn read<T>(&self, parse: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let mut buffer = [0; SHORT_BYTES];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        parse(buffer.get(..length)?)
    }
}

/// Whether a file that is read seldom should leave its descriptor to those that are read often.
pub fn descriptors_are_scarce() -> bool {
    KEPT_OPEN.load(Ordering::Relaxed) > KEPT_OPEN_MAX - KEPT_FOR_BUSY
}

impl Drop for ProcFile {
    fn drop(&mut self) {
        self.close();
    }
}

fn read_from_start(file: &File, shape: Shape, Buffer(buffer): &mut Buffer) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let read = match file.read_at(&mut buffer[length..], length as u64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        length += read;
        let full = length == buffer.len();
        if read == 0 || (shape == Shape::Record && !full) {
            return Ok(length);
        }
        if full {
            buffer.resize(2 * length, 0);
        }
    }
}

/// A process that ended (ESRCH, ENOENT), a file this kernel has not or has switched off
/// (EOPNOTSUPP: pressure with `psi=0`), or one that we may not read.
pub fn is_absence(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::SRCH | Errno::OPNOTSUPP | Errno::ACCESS | Errno::PERM)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_larger_than_the_buffer_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmstat");
        let text = vec![b'x'; 3 * BUFFER_BYTES + 7];
        std::fs::write(&path, &text).unwrap();
        let mut buffer = Buffer::new();
        for mut file in [ProcFile::lines(path.clone()), ProcFile::record(path)] {
            assert_eq!(file.read(&mut buffer).unwrap(), Some(&text[..]));
            assert_eq!(file.read(&mut buffer).unwrap(), Some(&text[..]), "read again");
        }
    }

    #[test]
    fn a_missing_file_is_absent_and_another_error_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut buffer = Buffer::new();
        let mut missing = ProcFile::record(folder.path().join("gone"));
        assert_eq!(missing.read(&mut buffer).unwrap(), None);
        let mut folder_itself = ProcFile::record(folder.path().to_owned());
        let error = folder_itself.read(&mut buffer).unwrap_err().to_string();
        assert!(error.starts_with(folder.path().to_str().unwrap()), "{error}");
    }
}
