//! Statements into an endpoint: lines of N-Triples over several connections that take batches from
//! one source, by the Graph Store protocol, one request a connection.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;

use super::config::Config;
use super::link::Link;
use super::request::Kind;
use super::sent::fields;
use super::verdict;
use crate::session::attempt::Attempt;
use crate::session::line::Received;
use crate::session::loading::{LoadError, Source, over_streams};

/// Sends all statements of a stream, whose one column holds lines with their ends, to the graph
/// of an endpoint's server that `target` names; how many it were.
pub fn load<R: RecordBatchReader + Send>(
    config: &Config,
    target: &str,
    rows: R,
    streams: usize,
) -> Result<u64, LoadError> {
    let loaded = over_streams("triples", rows, streams, |source| {
        let Some(first) = source.next_batch()? else { return Ok(0) };
        let link = Link::open(config, &Attempt::default());
        let link = link.map_err(|error| error.to_string())?;
        Loading { config, link }.graph(target, first, source)
    })?;
    Ok(loaded.iter().sum())
}

/// One connection that loads.
struct Loading<'a> {
    config: &'a Config,
    link: Link,
}

impl Loading<'_> {
    /// Sends all batches in parts of one body.
    fn graph<R: RecordBatchReader>(
        &mut self,
        target: &str,
        first: RecordBatch,
        source: &Source<R>,
    ) -> Result<u64, String> {
        let fields = fields(self.config, "*/*");
        let head = format!(
            "POST {target} HTTP/1.1\r\n{fields}Content-Type: application/n-triples\r\n\
             Transfer-Encoding: chunked\r\n\r\n"
        );
        self.send(head.as_bytes())?;
        let (mut count, mut batch) = (0, Some(first));
        while let Some(rows) = batch {
            let mut part = Vec::new();
            with_lines(&rows, |lines| {
                if !lines.is_empty() {
                    part.extend_from_slice(format!("{:x}\r\n", lines.len()).as_bytes());
                    part.extend_from_slice(lines);
                    part.extend_from_slice(b"\r\n");
                }
                Ok(())
            })?;
            self.send(&part)?;
            count += rows.num_rows() as u64;
            batch = source.next_batch()?;
        }
        self.send(b"0\r\n\r\n")?;
        self.answer()?;
        Ok(count)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.link.ask(bytes);
        match self.link.flush() {
            Ok(_) => Ok(()),
            // What the server said before it went says more than a broken pipe.
            Err(error) => Err(self.answer().err().unwrap_or(error.message)),
        }
    }

    /// Waits for the answer.
    fn answer(&mut self) -> Result<(), String> {
        while !self.link.response.is_whole() {
            if self.link.read().map_err(|error| error.message)? == Received::End {
                self.link.response.close().map_err(|reason| {
                    format!("the server closed the connection without an answer ({reason})")
                })?;
            }
        }
        let taken = verdict::of(&self.link.response, Kind::Update);
        taken.map(drop).map_err(|error| error.message)
    }
}

/// The lines of a batch, which stand behind each other in memory.
fn with_lines(
    rows: &RecordBatch,
    lines: impl FnOnce(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let column = rows.columns().first().ok_or("a stream without a column")?;
    match column.data_type() {
        DataType::Utf8 => {
            let texts = column.as_string::<i32>();
            let offsets = texts.value_offsets();
            lines(&texts.value_data()[offsets[0] as usize..offsets[texts.len()] as usize])
        }
        DataType::LargeUtf8 => {
            let texts = column.as_string::<i64>();
            let offsets = texts.value_offsets();
            lines(&texts.value_data()[offsets[0] as usize..offsets[texts.len()] as usize])
        }
        other => Err(format!("a column of {other}, where texts were due")),
    }
}
