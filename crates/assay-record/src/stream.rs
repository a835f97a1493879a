//! One append-only Arrow IPC stream of the record. Rows wait in memory until `flush`, which makes
//! them one batch: a process that is killed leaves all batches flushed before, readable.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use assay_model::{Cell, Rows, Table};

/// Why a stream could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", path.display(), reason(source))]
pub struct StreamError {
    /// The stream.
    pub path: PathBuf,
    /// What the Arrow writer or the operating system said.
    pub source: ArrowError,
}

/// The operating system's own words where it was the one that refused.
fn reason(source: &ArrowError) -> String {
    match source {
        ArrowError::IoError(_, source) => source.to_string(),
        source => source.to_string(),
    }
}

/// The one writer of one stream file.
pub struct Stream {
    path: PathBuf,
    rows: Rows,
    writer: StreamWriter<BufWriter<File>>,
}

impl Stream {
    /// Makes the table's file in `raw_dir`; a file that is there already belongs to another writer
    /// and is an error.
    pub fn create(raw_dir: &Path, table: &'static Table) -> Result<Self, StreamError> {
        let path = raw_dir.join(table.file);
        let file = File::create_new(&path).map_err(|error| failed(&path, error))?;
        Self::over(file, path, table)
    }

    /// Writes into a file that is open. The schema is on disk when this returns.
    pub fn over(file: File, path: PathBuf, table: &'static Table) -> Result<Self, StreamError> {
        let rows = Rows::new(table);
        let writer = StreamWriter::try_new(BufWriter::new(file), &table.schema())
            .and_then(|mut writer| writer.flush().map(|()| writer))
            .map_err(|error| failed(&path, error))?;
        Ok(Self { path, rows, writer })
    }

    /// Adds a row, in memory.
    pub fn push(&mut self, cells: &[Cell<'_>]) {
        self.rows.push(cells);
    }

    /// How many rows wait.
    pub fn waiting(&self) -> usize {
        self.rows.len()
    }

    /// Hands the waiting rows to the operating system as one batch.
    pub fn flush(&mut self) -> Result<(), StreamError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.rows
            .take()
            .and_then(|batch| self.writer.write(&batch))
            .and_then(|()| self.writer.flush())
            .map_err(|error| failed(&self.path, error))
    }

    /// Flushes and marks the end of the stream.
    pub fn finish(&mut self) -> Result<(), StreamError> {
        self.flush()?;
        self.writer
            .finish()
            .and_then(|()| self.writer.flush())
            .map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, source: impl Into<ArrowError>) -> StreamError {
    StreamError { path: path.to_owned(), source: source.into() }
}

#[cfg(test)]
mod tests {
    use arrow_ipc::reader::StreamReader;

    use super::*;
    use crate::{COST_ABOUT, COST_COLUMNS};

    static PROBE_SYSTEM: Table =
        Table { file: "probe-system.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

    #[test]
    fn a_full_disk_is_an_error_with_path_and_reason() {
        let full = PathBuf::from("/dev/full");
        let file = File::options().write(true).open(&full).unwrap();
        let error = Stream::over(file, full, &PROBE_SYSTEM).err().unwrap().to_string();
        assert!(error.starts_with("/dev/full: No space left on device"), "{error}");
    }

    /// How many rows a reader gets out of the first `length` bytes.
    fn rows_readable(bytes: &[u8], length: usize) -> usize {
        let Ok(reader) = StreamReader::try_new(&bytes[..length], None) else { return 0 };
        reader.map_while(Result::ok).map(|batch| batch.num_rows()).sum()
    }

    #[test]
    fn a_torn_tail_loses_no_whole_batch() {
        let raw = tempfile::tempdir().unwrap();
        let mut stream = Stream::create(raw.path(), &PROBE_SYSTEM).unwrap();
        let path = raw.path().join(PROBE_SYSTEM.file);
        let mut ends = Vec::new();
        for name in ["a", "b", "a"] {
            let count = Cell::Count(1);
            stream.push(&[Cell::Int(1), Cell::Text(name), count, count, count]);
            stream.flush().unwrap();
            ends.push(std::fs::metadata(&path).unwrap().len() as usize);
        }
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(rows_readable(&bytes, length), whole, "cut at {length} of {ends:?}");
        }
    }

    #[test]
    fn a_stream_has_one_writer() {
        let raw = tempfile::tempdir().unwrap();
        let _first = Stream::create(raw.path(), &PROBE_SYSTEM).unwrap();
        let error = Stream::create(raw.path(), &PROBE_SYSTEM).err().unwrap().to_string();
        assert!(error.contains("probe-system.arrows: File exists"), "{error}");
    }
}
