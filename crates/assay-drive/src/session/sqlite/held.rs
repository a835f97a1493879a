//! Rows of an operation, copied out of SQLite: what it shows of a row is gone with the next one.

use std::sync::Arc;

use rusqlite::Statement;
use rusqlite::types::ValueRef;

use crate::digest::RowDigest;
use crate::session::value::{Shape, Value};

/// Beginnings of declared types whose values are numbers with a fraction.
const FRACTIONS: [&str; 6] = ["real", "floa", "doub", "deci", "nume", "dec("];

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As the statement names it.
    pub name: String,
    /// Whether its values are declared to be numbers with a fraction.
    pub fraction: bool,
}

/// The columns of a statement.
pub fn described(statement: &Statement<'_>) -> Arc<[Column]> {
    let columns = statement.columns();
    let column = |column: rusqlite::Column<'_>| {
        let declared = column.decl_type().unwrap_or_default().to_lowercase();
        Column {
            name: column.name().to_owned(),
            fraction: FRACTIONS.iter().any(|beginning| declared.starts_with(beginning)),
        }
    };
    columns.map(column).collect()
}

/// A value; texts and bytes are places in `Held::bytes`.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(usize, usize),
    Blob(usize, usize),
}

/// Which kinds a column holds: SQLite's types are of values.
#[derive(Clone, Copy, Debug, Default)]
struct Seen(u8);

impl Seen {
    const INTEGER: u8 = 1;
    const REAL: u8 = 2;
    const NUMBER: u8 = Self::INTEGER | Self::REAL;
    const BLOB: u8 = 8;

    fn note(&mut self, cell: Cell) {
        self.0 |= match cell {
            Cell::Null => 0,
            Cell::Integer(_) => Self::INTEGER,
            Cell::Real(_) => Self::REAL,
            Cell::Text(..) => 4,
            Cell::Blob(..) => Self::BLOB,
        };
    }

    /// A column has its declared type where all its values fit it.
    const fn shape(self, fraction: bool) -> Shape {
        match self.0 {
            Self::INTEGER if !fraction => Shape::Number,
            0 if !fraction => Shape::Text,
            seen if seen & !Self::NUMBER == 0 => Shape::Float,
            Self::BLOB => Shape::Bytes,
            _ => Shape::Text,
        }
    }
}

/// The rows of one statement.
#[derive(Debug)]
struct Rows {
    columns: Arc<[Column]>,
    seen: Vec<Seen>,
    first: usize,
}

/// Rows of all statements of an operation.
#[derive(Debug, Default)]
pub struct Held {
    cells: Vec<Cell>,
    bytes: Vec<u8>,
    results: Vec<Rows>,
}

impl Held {
    /// Forgets everything; the memory stays.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        self.results.clear();
    }

    /// Rows that follow have these columns.
    pub fn begin(&mut self, columns: Arc<[Column]>) {
        let seen = vec![Seen::default(); columns.len()];
        self.results.push(Rows { columns, seen, first: self.cells.len() });
    }

    /// A value of the row that is next, columns in order.
    pub fn push(&mut self, column: usize, value: ValueRef<'_>) {
        let cell = match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => Cell::Text(self.bytes.len(), self.added(text)),
            ValueRef::Blob(bytes) => Cell::Blob(self.bytes.len(), self.added(bytes)),
        };
        self.cells.push(cell);
        if let Some(result) = self.results.last_mut() {
            result.seen[column].note(cell);
        }
    }

    fn added(&mut self, bytes: &[u8]) -> usize {
        self.bytes.extend_from_slice(bytes);
        bytes.len()
    }

    /// Memory that is in use.
    pub fn size_bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + self.bytes.len()
    }

    /// Digests the rows and forgets them; columns stay, and what they were seen to hold.
    pub fn digest(&mut self, digest: &mut RowDigest) {
        self.digest_kept(digest);
        self.cells.clear();
        self.bytes.clear();
        self.results.drain(..self.results.len().saturating_sub(1));
        if let Some(result) = self.results.last_mut() {
            result.first = 0;
        }
    }

    /// Digests the rows.
    pub fn digest_kept(&self, digest: &mut RowDigest) {
        for (number, result) in self.results.iter().enumerate() {
            if result.columns.is_empty() {
                continue;
            }
            let shapes: Vec<Shape> = result.shapes().collect();
            for row in self.cells_of(number).chunks_exact(shapes.len()) {
                for (cell, shape) in row.iter().zip(&shapes) {
                    self.value(*cell, *shape).digest(digest);
                }
                digest.end_row();
            }
        }
    }

    fn cells_of(&self, number: usize) -> &[Cell] {
        let end = self.results.get(number + 1).map_or(self.cells.len(), |next| next.first);
        &self.cells[self.results[number].first..end]
    }

    /// Names, shapes and values of the last statement that has columns, by column.
    #[allow(clippy::type_complexity)] // It is what `rows::write` takes.
    pub fn last(&self) -> Option<(Vec<(&str, Shape)>, Vec<Vec<Value<'_>>>)> {
        let number = self.results.len().checked_sub(1)?;
        let result = &self.results[number];
        let names = result.columns.iter().map(|column| column.name.as_str());
        let columns: Vec<(&str, Shape)> = names.zip(result.shapes()).collect();
        let cells = self.cells_of(number);
        let of = |(index, (_, shape)): (usize, &(&str, Shape))| {
            let cells = cells.iter().skip(index).step_by(columns.len());
            cells.map(|cell| self.value(*cell, *shape)).collect()
        };
        let values = columns.iter().enumerate().map(of).collect();
        Some((columns, values))
    }

    fn value(&self, cell: Cell, shape: Shape) -> Value<'_> {
        match (cell, shape) {
            (Cell::Null, _) => Value::Null,
            (Cell::Integer(number), Shape::Float) => Value::Float(number as f64),
            (Cell::Integer(number), Shape::Text) => Value::Long(number.to_string()),
            (Cell::Integer(number), _) => Value::Exact(number.into(), 0),
            (Cell::Real(number), Shape::Text) => Value::Long(format!("{number:?}")),
            (Cell::Real(number), _) => Value::Float(number),
            (Cell::Text(start, length), _) => Value::Text(&self.bytes[start..start + length]),
            (Cell::Blob(start, length), _) => Value::Bytes(&self.bytes[start..start + length]),
        }
    }
}

impl Rows {
    fn shapes(&self) -> impl Iterator<Item = Shape> {
        let columns = self.seen.iter().zip(self.columns.iter());
        columns.map(|(seen, column)| seen.shape(column.fraction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(fractions: &[bool], rows: &[&[ValueRef<'_>]]) -> Held {
        let column = |fraction: &bool| Column { name: "a".into(), fraction: *fraction };
        let mut held = Held::default();
        held.begin(fractions.iter().map(column).collect());
        for row in rows {
            row.iter().enumerate().for_each(|(column, value)| held.push(column, *value));
        }
        held
    }

    fn column(fraction: bool, values: &[ValueRef<'_>]) -> (Shape, Vec<String>) {
        let rows: Vec<&[ValueRef<'_>]> = values.iter().map(std::slice::from_ref).collect();
        let held = held(&[fraction], &rows);
        let (columns, values) = held.last().unwrap();
        (columns[0].1, values[0].iter().map(|value| format!("{value:?}")).collect())
    }

    #[test]
    fn a_column_has_its_declared_type_where_all_values_fit() {
        let (one, half) = (ValueRef::Integer(1), ValueRef::Real(0.5));
        assert_eq!(column(false, &[one]), (Shape::Number, vec!["Exact(1, 0)".into()]));
        assert_eq!(column(true, &[one]), (Shape::Float, vec!["Float(1.0)".into()]));
        assert_eq!(column(false, &[one, half]).0, Shape::Float);
        assert_eq!(column(false, &[one, half]).1[0], "Float(1.0)");
        let (shape, values) = column(true, &[one, half, ValueRef::Text(b"x"), ValueRef::Null]);
        assert_eq!(shape, Shape::Text);
        assert_eq!(values, ["Long(\"1\")", "Long(\"0.5\")", "Text([120])", "Null"]);
        assert_eq!(column(false, &[ValueRef::Blob(b"x")]).0, Shape::Bytes);
        assert_eq!(column(true, &[ValueRef::Null]).0, Shape::Float);
    }

    #[test]
    fn rows_that_were_digested_on_the_way_have_the_digest_of_those_that_were_not() {
        let row = |number| [ValueRef::Integer(number), ValueRef::Text(b"x")];
        let mut at_once = RowDigest::default();
        held(&[true, false], &[&row(1), &row(2), &row(3)]).digest_kept(&mut at_once);
        let mut on_the_way = RowDigest::default();
        let mut part = held(&[true, false], &[&row(1), &row(2)]);
        part.digest(&mut on_the_way);
        assert_eq!(part.size_bytes(), 0);
        row(3).iter().enumerate().for_each(|(column, value)| part.push(column, *value));
        part.digest(&mut on_the_way);
        assert_eq!(at_once.finish_ordered(), on_the_way.finish_ordered());
        assert_eq!(on_the_way.rows(), 3);
    }
}
