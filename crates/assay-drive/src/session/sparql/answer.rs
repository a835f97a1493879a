//! Reads answers, however much of them is there: rows of variables, truth values, and graphs, whose
//! rows are statements.

use super::term::Term;
use super::{json, ntriples, tsv};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// SPARQL's results as JSON.
    Json,
    /// As values between tabs.
    Tsv,
    /// A graph, a statement a line.
    NTriples,
}

/// Takes the rows of an answer.
pub trait Rows {
    /// One row, a term for each column.
    fn row(&mut self, cells: &[Term<'_>]) -> Result<(), String>;
}

impl<F: FnMut(&[Term<'_>]) -> Result<(), String>> Rows for F {
    fn row(&mut self, cells: &[Term<'_>]) -> Result<(), String> {
        self(cells)
    }
}

/// Names of the columns of a graph.
pub const OF_GRAPHS: [&str; 3] = ["subject", "predicate", "object"];
/// Name of the only column of a truth value.
pub const OF_TRUTH: &str = "boolean";

/// Where in an answer its reader is.
#[derive(Debug)]
enum Reading {
    Json(json::Place),
    Tsv(tsv::Place),
    NTriples,
}

/// Reads one answer in as many parts as it comes in.
#[derive(Debug)]
pub struct Reader {
    /// Names of its columns, once they were told.
    pub columns: Vec<String>,
    reading: Reading,
}

impl Reader {
    /// A reader of an answer that begins.
    pub fn new(form: Form) -> Self {
        let (reading, columns) = match form {
            Form::Json => (Reading::Json(json::Place::default()), Vec::new()),
            Form::Tsv => (Reading::Tsv(tsv::Place::default()), Vec::new()),
            Form::NTriples => (Reading::NTriples, OF_GRAPHS.map(String::from).to_vec()),
        };
        Self { columns, reading }
    }

    /// Reads what is whole in `bytes`, which begin where the last call ended; how many were read.
    /// `ended`: nothing comes behind them, so all of them are to be read.
    pub fn read(
        &mut self,
        bytes: &[u8],
        ended: bool,
        rows: &mut impl Rows,
    ) -> Result<usize, String> {
        match &mut self.reading {
            Reading::Json(place) => place.read(&mut self.columns, bytes, ended, rows),
            Reading::Tsv(place) => place.read(&mut self.columns, bytes, ended, rows),
            Reading::NTriples => ntriples::read(bytes, ended, rows),
        }
    }
}

/// The words of an answer that broke off or is none.
pub fn wrong(what: &str, bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    format!("the answer cannot be read: {what} at {shown:?}")
}

/// The line that begins at `place`, without its end, and where the next one begins; `None`: it is not
/// whole, or there is none. `ended`: nothing comes behind the bytes.
pub fn line(bytes: &[u8], place: usize, ended: bool) -> Option<(&[u8], usize)> {
    let rest = &bytes[place..];
    let (line, next) = match rest.iter().position(|byte| *byte == b'\n') {
        Some(length) => (&rest[..length], place + length + 1),
        None if ended && !rest.is_empty() => (rest, bytes.len()),
        None => return None,
    };
    Some((line.strip_suffix(b"\r").unwrap_or(line), next))
}
