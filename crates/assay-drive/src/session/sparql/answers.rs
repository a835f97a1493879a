//! Answers of an operation that stay as they came, until they are read after the clock was.

use std::path::Path;

use super::super::need::Need;
use super::super::rows;
use super::super::value::{Shape, Value};
use super::super::{Fetched, SessionError};
use super::answer::{Form, Reader, Rows};
use super::term::Term;
use crate::conductor::Conductor;
use crate::digest::RowDigest;

/// One answer that is whole.
#[derive(Debug)]
struct Held {
    form: Form,
    body: Vec<u8>,
}

impl Held {
    fn read(&self, rows: &mut impl Rows) -> Result<Vec<String>, SessionError> {
        let mut reader = Reader::new(self.form);
        reader.read(&self.body, true, rows).map_err(SessionError::unreadable)?;
        Ok(reader.columns)
    }
}

/// Rows as they are digested.
#[derive(Default)]
struct Digesting {
    digest: RowDigest,
    scratch: Vec<u8>,
}

impl Rows for Digesting {
    fn row(&mut self, cells: &[Term<'_>]) -> Result<(), String> {
        for cell in cells {
            cell.kept(&mut self.scratch).digest(&mut self.digest);
        }
        self.digest.end_row();
        Ok(())
    }
}

/// What an operation was answered.
#[derive(Default)]
pub struct Answers {
    /// Their memory is used again; the first `there` of them are of this operation.
    held: Vec<Held>,
    there: usize,
    digesting: Digesting,
    /// Reads the answer under way, of which a part was digested already.
    reading: Option<Reader>,
    dropped: bool,
    need: Need,
}

impl Answers {
    /// An operation begins.
    pub fn clear(&mut self) {
        self.there = 0;
        self.digesting.digest.clear();
        self.reading = None;
        self.dropped = false;
    }

    /// Bytes that are held.
    pub fn held_bytes(&self) -> usize {
        self.held[..self.there].iter().map(|held| held.body.len()).sum()
    }

    /// Digests and forgets what is held and what is there of the answer under way, because it is
    /// too much.
    pub fn drop_part(&mut self, form: Form, body: &mut Vec<u8>) -> Result<(), SessionError> {
        self.need.note(self.held_bytes() + body.len());
        self.digested()?;
        self.there = 0;
        self.dropped = true;
        let reader = self.reading.get_or_insert_with(|| Reader::new(form));
        let read =
            reader.read(body, false, &mut self.digesting).map_err(SessionError::unreadable)?;
        body.drain(..read);
        Ok(())
    }

    /// An answer is whole: its body is taken, and another one, which is empty, put in its place.
    pub fn take(&mut self, form: Form, body: &mut Vec<u8>) -> Result<(), SessionError> {
        if let Some(mut reader) = self.reading.take() {
            reader.read(body, true, &mut self.digesting).map_err(SessionError::unreadable)?;
            body.clear();
            return Ok(());
        }
        if self.there == self.held.len() {
            self.held.push(Held { form, body: Vec::new() });
        }
        let held = &mut self.held[self.there];
        held.form = form;
        std::mem::swap(&mut held.body, body);
        body.clear();
        self.there += 1;
        Ok(())
    }

    /// Rows of the answer that was taken last.
    fn count_last(&self) -> Result<u64, SessionError> {
        let Some(held) = self.held[..self.there].last() else {
            return Ok(self.digesting.digest.rows());
        };
        match held.form {
            Form::NTriples => Ok(statements(&held.body)),
            Form::Tsv => Ok(lines(&held.body).saturating_sub(1)),
            Form::Json => {
                let mut count = 0;
                held.read(&mut |_: &[Term<'_>]| {
                    count += 1;
                    Ok(())
                })?;
                Ok(count)
            }
        }
    }

    /// Rows of the answer that was taken last, which is a statement's: counted where somebody asks
    /// for that now, or read by the operation's program.
    pub fn read_rows(
        &mut self,
        conductor: &mut Conductor,
        statement: usize,
    ) -> Result<u64, SessionError> {
        if conductor.reads_rows() {
            return self.hand_over(conductor, statement);
        }
        if conductor.is_noted() { self.count_last() } else { Ok(0) }
    }

    /// Has the program read the rows of the answer that was taken last, and forgets them.
    fn hand_over(
        &mut self,
        conductor: &mut Conductor,
        statement: usize,
    ) -> Result<u64, SessionError> {
        let Some(held) = self.held[..self.there].last() else { return Ok(0) };
        let (mut rows, mut failed) = (0, None);
        let read = held.read(&mut |cells: &[Term<'_>]| {
            rows += 1;
            let mut cells = cells.iter().enumerate();
            let read = cells
                .try_for_each(|(column, cell)| conductor.cell(statement, column, &cell.value()))
                .and_then(|()| conductor.end_row(statement));
            read.map_err(|error| {
                let message = error.message.clone();
                failed = Some(error);
                message
            })
        });
        self.there -= 1;
        read.map_err(|error| failed.unwrap_or(error))?;
        Ok(rows)
    }

    /// The time of an operation has ended: gives room back, of `body` too, where the next answer
    /// will be, that none has needed for long.
    pub fn settle(&mut self, body: Option<&mut Vec<u8>>) {
        self.need.note(self.held_bytes());
        let held = self.held.iter_mut().map(|held| &mut held.body);
        let mut bodies: Vec<&mut Vec<u8>> = held.chain(body).collect();
        let room = bodies.iter().map(|body| body.capacity()).sum();
        if let Some(room) = self.need.ended(room) {
            for body in &mut bodies {
                body.shrink_to(room);
            }
        }
    }

    /// Counts and digests all rows, where no program has read them.
    pub fn fetched(&mut self, conductor: &Conductor) -> Result<Fetched, SessionError> {
        Fetched::read_by(conductor).map_or_else(|| self.digested(), Ok)
    }

    fn digested(&mut self) -> Result<Fetched, SessionError> {
        for held in &self.held[..self.there] {
            held.read(&mut self.digesting)?;
        }
        Ok(Fetched::of(&self.digesting.digest))
    }

    /// Writes the rows of the last answer, where all of them are held.
    pub fn keep(&self, path: &Path) -> Result<(), SessionError> {
        let Some(held) = self.held[..self.there].last().filter(|_| !self.dropped) else {
            return Ok(());
        };
        let mut shapes: Vec<Option<Shape>> = Vec::new();
        let columns = held.read(&mut |cells: &[Term<'_>]| {
            shapes.resize(cells.len(), None);
            for (shape, cell) in shapes.iter_mut().zip(cells) {
                *shape = both(*shape, cell.shape());
            }
            Ok(())
        })?;
        shapes.resize(columns.len(), None);
        let shapes: Vec<Shape> =
            shapes.into_iter().map(|shape| shape.unwrap_or(Shape::Text)).collect();
        let mut keeping = Keeping::of(&shapes);
        held.read(&mut keeping)?;
        let named: Vec<(&str, Shape)> =
            columns.iter().map(String::as_str).zip(shapes.iter().copied()).collect();
        rows::write(path, &named, &keeping.values())
            .map_err(|error| SessionError::unreadable(error.to_string()))
    }
}

fn lines(body: &[u8]) -> u64 {
    body.split(|byte| *byte == b'\n').count() as u64
        - u64::from(body.ends_with(b"\n") || body.is_empty())
}

/// Lines of a graph that say something: the others are empty, or comments.
fn statements(body: &[u8]) -> u64 {
    let says = |line: &&[u8]| !matches!(line.trim_ascii_start(), [] | [b'#', ..]);
    body.split(|byte| *byte == b'\n').filter(says).count() as u64
}

/// The shape of a column that has values of both shapes.
fn both(left: Option<Shape>, right: Option<Shape>) -> Option<Shape> {
    match (left, right) {
        (None, shape) | (shape, None) => shape,
        (Some(left), Some(right)) if left == right => Some(left),
        (Some(Shape::Number | Shape::Float), Some(Shape::Number | Shape::Float)) => {
            Some(Shape::Float)
        }
        _ => Some(Shape::Text),
    }
}

/// A value that is kept: itself, or where its text ends among all that are kept.
enum Slot {
    Value(Value<'static>),
    Text(usize),
}

/// Rows as they are kept, in columns.
struct Keeping<'s> {
    shapes: &'s [Shape],
    slots: Vec<Vec<Slot>>,
    texts: Vec<u8>,
    scratch: Vec<u8>,
}

impl<'s> Keeping<'s> {
    fn of(shapes: &'s [Shape]) -> Self {
        let slots = shapes.iter().map(|_| Vec::new()).collect();
        Self { shapes, slots, texts: Vec::new(), scratch: Vec::new() }
    }

    fn slot(&mut self, shape: Shape, cell: &Term<'_>) -> Slot {
        match cell.kept(&mut self.scratch) {
            Value::Null => return Slot::Value(Value::Null),
            Value::Exact(coefficient, scale) if shape == Shape::Float => {
                let mut digits = Vec::new();
                super::super::value::write_decimal(coefficient, scale as usize, &mut digits);
                let number = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
                return Slot::Value(number.map_or(Value::Null, Value::Float));
            }
            Value::Bool(value) if shape != Shape::Text => return Slot::Value(Value::Bool(value)),
            Value::Exact(coefficient, scale) if shape != Shape::Text => {
                return Slot::Value(Value::Exact(coefficient, scale));
            }
            Value::Float(value) if shape != Shape::Text => return Slot::Value(Value::Float(value)),
            Value::Date(days) if shape != Shape::Text => return Slot::Value(Value::Date(days)),
            Value::Timestamp(micros) if shape != Shape::Text => {
                return Slot::Value(Value::Timestamp(micros));
            }
            _ => {}
        }
        cell.write(&mut self.texts);
        Slot::Text(self.texts.len())
    }

    /// Columns of values; texts stand in order of their rows.
    fn values(&self) -> Vec<Vec<Value<'_>>> {
        let rows = self.slots.first().map_or(0, Vec::len);
        let mut columns: Vec<Vec<Value<'_>>> =
            self.slots.iter().map(|_| Vec::with_capacity(rows)).collect();
        let mut begin = 0;
        for row in 0..rows {
            for (slots, values) in self.slots.iter().zip(&mut columns) {
                values.push(match &slots[row] {
                    Slot::Value(value) => value.clone(),
                    Slot::Text(end) => {
                        Value::Text(&self.texts[std::mem::replace(&mut begin, *end)..*end])
                    }
                });
            }
        }
        columns
    }
}

impl Rows for Keeping<'_> {
    fn row(&mut self, cells: &[Term<'_>]) -> Result<(), String> {
        for (column, cell) in cells.iter().enumerate() {
            let slot = self.slot(self.shapes[column], cell);
            self.slots[column].push(slot);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::need::OPERATIONS_BEFORE_SHRINKING;
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, TimestampMicrosecondType};
    use arrow_array::{Array, RecordBatch};
    use std::fs::File;

    fn answered(form: Form, texts: &[&str]) -> Answers {
        let mut answers = Answers::default();
        for text in texts {
            answers.take(form, &mut text.as_bytes().to_vec()).unwrap();
        }
        answers
    }

    fn kept(answers: &Answers) -> RecordBatch {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.arrow");
        answers.keep(&path).unwrap();
        let mut file =
            arrow_ipc::reader::FileReader::try_new(File::open(path).unwrap(), None).unwrap();
        file.next().unwrap().unwrap()
    }

    #[test]
    fn room_for_a_large_answer_is_given_back_when_none_is_as_large_for_long() {
        const LARGE: usize = 4 << 20;
        let (mut answers, mut body) = (Answers::default(), Vec::new());
        let mut room_after = |length: usize, operations: u32| {
            for _ in 0..operations {
                answers.clear();
                body.resize(length, b'a');
                answers.take(Form::Tsv, &mut body).unwrap();
                answers.settle(Some(&mut body));
                assert_eq!(answers.held_bytes(), length);
            }
            answers.held[0].body.capacity() + body.capacity()
        };
        assert!(room_after(LARGE, 1) >= LARGE);
        assert!(room_after(10, OPERATIONS_BEFORE_SHRINKING - 2) >= LARGE);
        assert!(room_after(10, 2 * OPERATIONS_BEFORE_SHRINKING) < 1 << 17);
    }

    const TSV: &str = "?n\t?x\n1\t<a>\n1.50\t\"b\"\n\t2\n";
    const JSON: &str = r#"{"head": {"vars": ["n", "x"]}, "results": {"bindings": [
        {"x": {"type": "uri", "value": "a"},
         "n": {"type": "typed-literal", "value": "01",
               "datatype": "http://www.w3.org/2001/XMLSchema#int"}},
        {"n": {"type": "literal", "value": "1.5",
               "datatype": "http://www.w3.org/2001/XMLSchema#decimal"},
         "x": {"type": "literal", "value": "b",
               "datatype": "http://www.w3.org/2001/XMLSchema#string"}},
        {"x": {"type": "literal", "value": "2",
               "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}]}}"#;

    #[test]
    fn answers_are_alike_however_they_are_written() {
        let (mut tsv, mut json) = (answered(Form::Tsv, &[TSV]), answered(Form::Json, &[JSON]));
        assert_eq!((tsv.count_last(), json.count_last()), (Ok(3), Ok(3)));
        let fetched = tsv.digested().unwrap();
        assert_eq!(fetched.rows, 3);
        assert_eq!(fetched, json.digested().unwrap());
        let batch = kept(&tsv);
        assert_eq!(batch, kept(&json));
        assert_eq!(batch.schema().field(0).data_type().to_string(), "Decimal128(38, 1)");
        let texts = batch.column(1).as_string::<i32>();
        assert_eq!((texts.value(0), texts.value(1), texts.value(2)), ("<a>", "\"b\"", "2"));
        assert!(batch.column(0).is_null(2));
    }

    #[test]
    fn columns_are_kept_as_what_all_their_values_are() {
        let text = "?f\t?t\t?m\t?z\n1\t\"2008-01-01T00:00:01\"^^<http://www.w3.org/2001/XMLSchema#dateTime>\t\
                    true\t\n2.5e0\t\t3\t\n";
        let batch = kept(&answered(Form::Tsv, &[text]));
        assert_eq!(batch.column(0).as_primitive::<Float64Type>().values(), &[1.0, 2.5]);
        let moments = batch.column(1).as_primitive::<TimestampMicrosecondType>();
        assert_eq!(moments.value(0), 1_199_145_601_000_000);
        assert_eq!(batch.column(2).as_string::<i32>().value(0), "true");
        assert_eq!(batch.column(3).null_count(), 2);
    }

    #[test]
    fn blank_nodes_are_alike_whatever_their_label() {
        let digest = |text| answered(Form::NTriples, &[text]).digested().unwrap().digest;
        assert_eq!(digest("_:a <p> _:b .\n"), digest("_:x <p> _:x .\n"));
        assert_ne!(digest("_:a <p> _:b .\n"), digest("_:a <p> <b> .\n"));
    }

    #[test]
    fn a_graph_has_as_many_rows_as_statements() {
        for (text, rows) in
            [("# nothing\n", 0), ("", 0), ("<a> <b> <c> .\n\n # x\n<a> <b> 'd' .", 2)]
        {
            let mut answers = answered(Form::NTriples, &[text]);
            assert_eq!(answers.count_last(), Ok(rows), "{text}");
            assert_eq!(answers.digested().unwrap().rows, rows, "{text}");
        }
    }

    #[test]
    fn a_truth_value_is_its_only_column() {
        for text in [
            r#"{"boolean": true, "head": {"vars": ["a", "b"]}}"#,
            r#"{"boolean": true, "head": {"vars": []}}"#,
            r#"{"head": {}, "boolean": true}"#,
        ] {
            let batch = kept(&answered(Form::Json, &[text]));
            assert_eq!((batch.num_columns(), batch.num_rows()), (1, 1), "{text}");
            assert_eq!(batch.schema().field(0).name(), "boolean");
        }
    }

    #[test]
    fn an_answer_that_says_two_things_is_an_error() {
        let rows = r#""results": {"bindings": [{"a": {"type": "uri", "value": "x"}}]}"#;
        let head = r#""head": {"vars": ["a"]}"#;
        for text in [
            format!(r#"{{{head}, {rows}, "head": {{"vars": []}}}}"#),
            format!(r#"{{{head}, {rows}, "boolean": true}}"#),
            format!(r#"{{"boolean": true, {head}, {rows}}}"#),
            format!("{{{head}, {rows}, {rows}}}"),
        ] {
            let answers = answered(Form::Json, &[&text]);
            let error = answers.keep(Path::new("/nowhere/a.arrow")).unwrap_err();
            assert!(error.message.contains("a second"), "{text}: {}", error.message);
        }
    }

    #[test]
    fn an_answer_that_is_too_long_to_be_held_has_the_same_digest() {
        for (form, text) in [(Form::Tsv, TSV), (Form::Json, JSON)] {
            let whole = answered(form, &[text, text]).digested().unwrap();
            for cut in 0..text.len() {
                let mut answers = answered(form, &[text]);
                let mut body = text.as_bytes()[..cut].to_vec();
                answers.drop_part(form, &mut body).unwrap();
                body.extend_from_slice(&text.as_bytes()[cut..]);
                answers.take(form, &mut body).unwrap();
                assert_eq!(answers.digested().unwrap(), whole, "{form:?} {cut}");
                answers.keep(Path::new("/nowhere/a.arrow")).unwrap();
            }
        }
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error() {
        for cut in 1..JSON.len() {
            let mut answers = answered(Form::Json, &[&JSON[..cut]]);
            let error = answers.digested().unwrap_err();
            assert!(error.message.contains("cannot be read"), "{cut}: {}", error.message);
        }
    }
}
