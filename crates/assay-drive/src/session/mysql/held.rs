//! Rows of an operation that stay where they came, until they are digested after the clock was read.

use std::path::Path;
use std::sync::Arc;

use super::super::SessionError;
use super::super::rows;
use super::super::value::Value;
use super::link::Link;
use super::values::{Column, each_value};
use crate::digest::RowDigest;

/// Rows of one result that are held, one after another in the inbox.
struct Held {
    columns: Arc<[Column]>,
    binary: bool,
    begin: usize,
    end: usize,
}

/// Rows that were digested before the operation ended, and those that are still held.
#[derive(Default)]
pub struct Digesting {
    /// Of what was digested.
    pub digest: RowDigest,
    dropped: bool,
    held: Vec<Held>,
}

impl Digesting {
    /// An operation begins.
    pub fn clear(&mut self) {
        self.digest.clear();
        self.dropped = false;
        self.held.clear();
    }

    /// A result of these columns begins; the one before it has ended.
    pub fn begin_result(&mut self, link: &Link, columns: Arc<[Column]>, binary: bool) {
        self.end_result(link.rows_end);
        let at = link.line.inbox.kept_bytes();
        self.held.push(Held { columns, binary, begin: at, end: at });
    }

    /// The rows of the last result end there.
    pub fn end_result(&mut self, end: usize) {
        if let Some(held) = self.held.last_mut() {
            held.end = end;
        }
    }

    /// Digests and forgets the rows that are held, because they are too many.
    pub fn drop_held(&mut self, link: &mut Link) -> Result<(), SessionError> {
        self.end_result(std::mem::take(&mut link.rows_end));
        self.digest_held(link)?;
        self.dropped = true;
        if let Some(Held { columns, binary, .. }) = self.held.pop() {
            self.held.clear();
            self.held.push(Held { columns, binary, begin: 0, end: 0 });
        }
        link.line.inbox.clear();
        Ok(())
    }

    /// Digests the rows that are held.
    pub fn digest_held(&mut self, link: &Link) -> Result<(), SessionError> {
        for Held { columns, binary, begin, end } in &self.held {
            for (_, row) in link.line.inbox.messages_within(*begin, *end) {
                each_value(row, columns, *binary, |_, value| value.digest(&mut self.digest))
                    .map_err(SessionError::unreadable)?;
                self.digest.end_row();
            }
        }
        Ok(())
    }

    /// Writes the rows of the last result, where all of them are held.
    pub fn keep(&self, link: &Link, path: &Path) -> Result<(), SessionError> {
        let last = self.held.last().filter(|_| !self.dropped);
        let Some(Held { columns, binary, begin, end }) = last else { return Ok(()) };
        let mut values: Vec<Vec<Value<'_>>> = columns.iter().map(|_| Vec::new()).collect();
        for (_, row) in link.line.inbox.messages_within(*begin, *end) {
            each_value(row, columns, *binary, |column, value| values[column].push(value))
                .map_err(SessionError::unreadable)?;
        }
        let shapes: Vec<_> =
            columns.iter().map(|column| (column.name.as_str(), column.kind.shape())).collect();
        rows::write(path, &shapes, &values)
            .map_err(|error| SessionError::unreadable(error.to_string()))
    }
}
