//! Rows into a table by LOAD DATA LOCAL INFILE, whose file is what we send, over several connections
//! that take batches from one source; by INSERT where the server does not take such files. Each
//! connection is one transaction; the first error ends all of them.
//!
//! A server takes rows of a client's file as `insert ignore` does: what it changes or leaves out is a
//! warning. So a load with a warning has failed.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{Schema, SchemaRef};
use mysql_common::constants::CapabilityFlags;

use super::cells::{self, Cells};
use super::config::Config;
use super::link::{Link, Reply, Request};
use super::packets::{self, Fields};
use super::startup::ServerError;
use crate::session::attempt::Attempt;
use crate::session::linked::{Link as _, MessageLink as _};
use crate::session::loading::{LoadError, Source, over_streams, spoke};

/// One write is about this long.
const WRITE_BYTES: usize = 256 << 10;
/// The server does not take files of clients: it is switched off there, or not known.
const REFUSALS: [u16; 5] = [1148, 1064, 1235, 3948, 4166];
/// Rows of one INSERT, at most; always a power of two, so that few statements are prepared.
const INSERT_ROWS_MAX: usize = 256;
/// Values of one statement, at most.
const VALUES_MAX: usize = 65_535;
/// An INSERT becomes no longer than this, so that servers take it whose packets are small.
const INSERT_BYTES_MAX: usize = 512 << 10;
/// Types of values in the protocol: text, and bytes that are none.
const TEXT: u8 = 253;
const BLOB: u8 = 252;
const WARNINGS_SHOWN: usize = 3;

/// How rows went into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As a file of the client.
    LocalInfile,
    /// Many rows a statement, because the server takes no such files.
    Insert,
}

impl Way {
    /// As records call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LocalInfile => "load data local infile",
            Self::Insert => "insert",
        }
    }
}

/// Brings all rows into a table; how many rows it were, and by which way.
pub fn load<R: RecordBatchReader + Send>(
    config: &Config,
    table: &str,
    rows: R,
    streams: usize,
) -> Result<(u64, Way), LoadError> {
    let schema = rows.schema();
    let loaded = over_streams(table, rows, streams, |source| {
        let Some(first) = source.next_batch()? else { return Ok((0, Way::LocalInfile)) };
        let mut loading = Loading::open(config, table, &schema)?;
        let loaded = loading.all(first, source)?;
        loading.must("commit")?;
        Ok(loaded)
    })?;
    let way = if loaded.iter().any(|(_, way)| *way == Way::Insert) {
        Way::Insert
    } else {
        Way::LocalInfile
    };
    Ok((loaded.iter().map(|(rows, _)| rows).sum(), way))
}

/// One connection that loads.
struct Loading {
    link: Link,
    table: String,
    schema: SchemaRef,
}

impl Loading {
    fn open(config: &Config, table: &str, schema: &SchemaRef) -> Result<Self, String> {
        let link = Link::open(config, CapabilityFlags::CLIENT_LOCAL_FILES, &Attempt::default());
        let link = link.map_err(|error| error.to_string())?;
        let mut loading = Self { link, table: quoted(table), schema: schema.clone() };
        loading.must("begin")?;
        Ok(loading)
    }

    fn must(&mut self, text: &str) -> Result<(), String> {
        match self.link.command(text) {
            Ok(None) => Ok(()),
            Ok(Some(error)) => Err(error_text(&error)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn all<R: RecordBatchReader>(
        &mut self,
        first: RecordBatch,
        source: &Source<R>,
    ) -> Result<(u64, Way), String> {
        let escape = if self.link.has_plain_backslashes() { "\\" } else { "\\\\" };
        let asked = load_data(&self.table, &self.schema, escape);
        self.link.query(Request::Command, &asked);
        self.flush()?;
        match self.answer()? {
            Reply::SendFile => Ok((self.send_file(first, source)?, Way::LocalInfile)),
            Reply::Error(error) if REFUSALS.contains(&error.number) => {
                Ok((self.insert_all(first, source)?, Way::Insert))
            }
            Reply::Error(error) => Err(error_text(&error)),
            _ => Err("the server answers a load without asking for its rows".into()),
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        self.link.flush().map(|_| ()).map_err(|error| error.to_string())
    }

    /// What the server answers next, on a stream that blocks.
    fn answer(&mut self) -> Result<Reply, String> {
        loop {
            if let Some(reply) = self.link.reply().map_err(|error| error.to_string())? {
                return Ok(reply);
            }
            self.link.read().map_err(|error| error.to_string())?;
        }
    }

    /// Sends all rows as a file; how many the server took.
    fn send_file<R: RecordBatchReader>(
        &mut self,
        first: RecordBatch,
        source: &Source<R>,
    ) -> Result<u64, String> {
        let mut file = File { out: Vec::with_capacity(2 * WRITE_BYTES), place: 0, number: 2 };
        file.place = packets::begin(&mut file.out);
        let (mut batch, mut rows) = (Some(first), 0);
        while let Some(taken) = batch {
            let columns = cells::columns(&taken, &self.schema)?;
            for row in 0..taken.num_rows() {
                write_line(&columns, row, &mut file.out)?;
                if file.out.len() >= WRITE_BYTES {
                    file.send(&mut self.link)?;
                }
            }
            rows += taken.num_rows() as u64;
            // An error of the server ends it early; the rest would be read and thrown away.
            batch = if spoke(self.link.descriptor()) { None } else { source.next_batch()? };
        }
        if file.out.len() > packets::HEADER_BYTES {
            file.send(&mut self.link)?;
        }
        // A packet without a body ends the file.
        file.send(&mut self.link)?;
        self.link.line.inbox.framing.expect(file.number);
        match self.answer()? {
            Reply::Done => self.complete(rows),
            Reply::Error(error) => Err(error_text(&error)),
            _ => Err("the server answers a file with rows".into()),
        }
    }

    /// Whether the last statement took all rows as they are.
    fn complete(&mut self, sent: u64) -> Result<u64, String> {
        let taken = self.link.take_affected();
        if self.link.warnings() > 0 {
            return Err(self.warnings()?);
        }
        if taken != sent {
            return Err(format!("{sent} rows were sent, and the server took {taken}"));
        }
        Ok(sent)
    }

    /// The first warnings, as a reason.
    fn warnings(&mut self) -> Result<String, String> {
        let count = self.link.warnings();
        let mut said = Vec::new();
        let asked = format!("show warnings limit {WARNINGS_SHOWN}");
        let shown = self.link.rows_of(&asked, |row| {
            let mut fields = Fields(row);
            let (_level, number) = (fields.sized()?, fields.sized()?);
            let message = String::from_utf8_lossy(fields.sized()?);
            said.push(format!("{message} ({})", String::from_utf8_lossy(number)));
            Ok(())
        });
        shown.map_err(|error| error.to_string())?;
        let said = said.join("; ");
        Ok(format!("the server would change or leave out rows, with {count} warnings: {said}"))
    }

    /// Inserts all rows, many a statement; how many it were.
    fn insert_all<R: RecordBatchReader>(
        &mut self,
        first: RecordBatch,
        source: &Source<R>,
    ) -> Result<u64, String> {
        let mut inserts = Inserts::default();
        let (mut batch, mut rows) = (Some(first), 0);
        while let Some(taken) = batch {
            let columns = cells::columns(&taken, &self.schema)?;
            let mut row = 0;
            while row < taken.num_rows() {
                row += self.insert(&columns, row..taken.num_rows(), &mut inserts)?;
            }
            rows += taken.num_rows() as u64;
            batch = source.next_batch()?;
        }
        Ok(rows)
    }

    /// Inserts as many of the rows as one statement takes; how many it were.
    fn insert(
        &mut self,
        columns: &[Cells<'_>],
        rows: std::ops::Range<usize>,
        inserts: &mut Inserts,
    ) -> Result<usize, String> {
        let most = INSERT_ROWS_MAX.min(VALUES_MAX / columns.len().max(1)).min(rows.len());
        inserts.clear();
        let mut written = 0;
        while written < most && inserts.bytes.len() < INSERT_BYTES_MAX {
            inserts.write(columns, rows.start + written)?;
            written += 1;
        }
        let count =
            if written.is_power_of_two() { written } else { written.next_power_of_two() / 2 };
        let id = self.prepared(count, inserts)?;
        let body = inserts.request(id, count, &self.schema);
        self.link.execute_bytes(&body);
        self.flush()?;
        match self.answer()? {
            Reply::Done => self.complete(count as u64).map(|_| count),
            Reply::Error(error) => Err(error_text(&error)),
            _ => Err("the server answers an insert with rows".into()),
        }
    }

    /// The number of the statement that inserts so many rows.
    fn prepared(&mut self, rows: usize, inserts: &mut Inserts) -> Result<u32, String> {
        let prepared = &mut inserts.prepared[rows.ilog2() as usize];
        if let Some(id) = prepared {
            return Ok(*id);
        }
        self.link.prepare(0, &insert_into(&self.table, &self.schema, rows));
        self.flush()?;
        match self.answer()? {
            Reply::Prepared(id, _) => Ok(*inserts.prepared[rows.ilog2() as usize].insert(id)),
            Reply::Error(error) => Err(error_text(&error)),
            _ => Err("the server does not prepare an insert".into()),
        }
    }
}

/// What is sent in answer to the server's request for a file.
struct File {
    out: Vec<u8>,
    place: usize,
    number: u8,
}

impl File {
    /// Sends what was written since the last packet, and begins another one.
    fn send(&mut self, link: &mut Link) -> Result<(), String> {
        self.number = packets::end(&mut self.out, self.place, self.number);
        link.send(&self.out).map_err(|error| {
            link.last_words().map_or_else(|| error.to_string(), |said| said.to_string())
        })?;
        self.out.clear();
        self.place = packets::begin(&mut self.out);
        Ok(())
    }
}

/// Rows of an INSERT as values that are bound, all of them as text or bytes.
#[derive(Default)]
struct Inserts {
    /// Statements by the logarithm of their rows.
    prepared: [Option<u32>; INSERT_ROWS_MAX.ilog2() as usize + 1],
    bytes: Vec<u8>,
    value: Vec<u8>,
    nulls: Vec<bool>,
    ends: Vec<usize>,
}

impl Inserts {
    fn clear(&mut self) {
        self.bytes.clear();
        self.nulls.clear();
        self.ends.clear();
    }

    fn write(&mut self, columns: &[Cells<'_>], row: usize) -> Result<(), String> {
        for column in columns {
            let absent = column.is_null(row);
            self.nulls.push(absent);
            if !absent {
                self.value.clear();
                column.write(row, &mut self.value)?;
                packets::sized(&mut self.bytes, &self.value);
            }
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// The body of a request that executes a statement with the first rows.
    fn request(&self, id: u32, rows: usize, schema: &Schema) -> Vec<u8> {
        let types = schema.fields().iter().map(|field| {
            let binary = cells::is_binary(field.data_type());
            [if binary { BLOB } else { TEXT }, 0]
        });
        let types: Vec<u8> = types.flatten().collect();
        let mut body = id.to_le_bytes().to_vec();
        body.extend_from_slice(&[0, 1, 0, 0, 0]);
        let values = rows * schema.fields().len();
        let nulls = body.len();
        body.resize(nulls + values.div_ceil(8), 0);
        for (place, _) in self.nulls[..values].iter().enumerate().filter(|(_, absent)| **absent) {
            body[nulls + place / 8] |= 1 << (place % 8);
        }
        body.push(1);
        body.extend(std::iter::repeat_n(&types, rows).flatten());
        body.extend_from_slice(&self.bytes[..self.ends[rows - 1]]);
        body
    }
}

fn write_line(columns: &[Cells<'_>], row: usize, out: &mut Vec<u8>) -> Result<(), String> {
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            out.push(b'\t');
        }
        column.write_escaped(row, out)?;
    }
    out.push(b'\n');
    Ok(())
}

fn error_text(error: &ServerError) -> String {
    format!("{}: {}", error.state, error.message)
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The statement that has the server ask for a file. Bytes come as hexadecimal digits.
fn load_data(table: &str, schema: &Schema, escape: &str) -> String {
    let (mut places, mut made) = (Vec::new(), Vec::new());
    for (place, field) in schema.fields().iter().enumerate() {
        let name = quoted(field.name());
        if cells::is_binary(field.data_type()) {
            places.push(format!("@bytes{place}"));
            made.push(format!("{name} = unhex(@bytes{place})"));
        } else {
            places.push(name);
        }
    }
    let set = if made.is_empty() { String::new() } else { format!(" set {}", made.join(", ")) };
    format!(
        "load data local infile 'rows' into table {table} character set utf8mb4 \
         fields terminated by '\t' escaped by '{escape}' lines terminated by '\n' ({}){set}",
        places.join(", ")
    )
}

fn insert_into(table: &str, schema: &Schema, rows: usize) -> String {
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    let row = format!("({})", vec!["?"; names.len()].join(", "));
    let rows = vec![row.as_str(); rows].join(", ");
    format!("insert into {table} ({}) values {rows}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn statements_name_their_columns_and_bytes_come_as_digits() {
        let fields = vec![
            Field::new("a", DataType::Int64, false),
            Field::new("b`c", DataType::Binary, true),
        ];
        let schema = Schema::new(fields);
        let asked = load_data("`t`", &schema, "\\\\");
        assert!(asked.contains("escaped by '\\\\'"), "{asked}");
        assert!(asked.ends_with("(`a`, @bytes1) set `b``c` = unhex(@bytes1)"), "{asked}");
        let asked = insert_into("`t`", &schema, 2);
        assert_eq!(asked, "insert into `t` (`a`, `b``c`) values (?, ?), (?, ?)");
    }
}
