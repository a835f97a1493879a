//! An append-only Arrow IPC stream on disk. What was flushed survives our end, however it comes.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use assay_model::Table;

use crate::error::DriveError;

/// One stream file with its one writer.
pub struct StreamFile {
    path: PathBuf,
    writer: StreamWriter<BufWriter<File>>,
}

impl StreamFile {
    /// Creates the table's file in `directory`; it must not be there yet.
    pub fn create(directory: &Path, table: &Table) -> Result<Self, DriveError> {
        let path = directory.join(table.file);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|error| DriveError::record(&path, error))?;
        let mut writer = StreamWriter::try_new(BufWriter::new(file), &table.schema())
            .map_err(|error| DriveError::record(&path, error))?;
        writer.flush().map_err(|error| DriveError::record(&path, error))?;
        Ok(Self { path, writer })
    }

    /// Appends one batch and hands it to the system.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), DriveError> {
        self.writer
            .write(batch)
            .and_then(|()| self.writer.flush())
            .map_err(|error| DriveError::record(&self.path, error))
    }

    /// Writes the end of the stream.
    pub fn finish(mut self) -> Result<(), DriveError> {
        self.writer
            .finish()
            .and_then(|()| self.writer.get_mut().flush().map_err(Into::into))
            .map_err(|error| DriveError::record(&self.path, error))
    }
}
