//! Opens files that another user may have put in place of the expected ones.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading, also through links. Opening a pipe would wait for its writer.
///
/// # Errors
/// If the file cannot be opened, or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_file_is_opened_and_a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        fs::write(&file, "text").unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let mut text = String::new();
        open_regular(&file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open_regular(&pipe).is_err());
        assert!(open_regular(folder.path()).is_err());
    }
}
