//! Tables of the record: their columns with units in the name and a sentence each, and a small
//! row-wise builder for streams that are written a few times a second.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    StringDictionaryBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::{UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// The type of a column, as few as the record needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64 bits; all times are of this kind.
    Int64,
    /// Unsigned 64 bits; counters and byte counts.
    UInt64,
    /// Unsigned 32 bits; small numbers such as a session.
    UInt32,
    /// Floating point of 64 bits; counters of engines, of which some are fractions.
    Float64,
    /// Text that varies from row to row.
    Text,
    /// Text out of few values, at most 65,536, stored once a stream.
    Word,
    /// Text out of values that an engine chooses, which may be more; stored once a stream.
    Phrase,
    /// Several values of `Int64`, as many as a row has.
    Int64List,
}

/// One column: its name carries its unit, and it is null where nothing was measured.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name, units last.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Whether a value can be absent.
    pub nullable: bool,
    /// One sentence for the documentation.
    pub about: &'static str,
}

/// One stream of the record.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// File name inside `raw/`.
    pub file: &'static str,
    /// One sentence: what a row is.
    pub about: &'static str,
    /// Columns in order.
    pub columns: &'static [Column],
}

impl Column {
    /// A column that is always present.
    pub const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, nullable: false, about }
    }

    /// A column that is null where the host or the engine does not give the value.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, nullable: true, about }
    }
}

impl Kind {
    /// The Arrow type a column of this kind is stored in.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::UInt32 => DataType::UInt32,
            Self::Float64 => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::Word => dictionary(DataType::UInt16),
            Self::Phrase => dictionary(DataType::UInt32),
            Self::Int64List => DataType::new_list(DataType::Int64, true),
        }
    }
}

fn dictionary(keys: DataType) -> DataType {
    DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8))
}

impl Table {
    /// The Arrow schema of the stream.
    pub fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|column| Field::new(column.name, column.kind.data_type(), column.nullable))
            .collect();
        Arc::new(Schema::new(fields))
    }
}

/// One value of a row. `Null` is 'not measured', which is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Not measured.
    Null,
    /// For columns of kind `Int64`.
    Int(i64),
    /// For columns of kind `UInt64` and `UInt32`.
    Count(u64),
    /// For columns of kind `Float64`.
    Float(f64),
    /// For columns of kind `Text`, `Word` and `Phrase`.
    Text(&'a str),
    /// For columns of kind `Int64List`.
    Ints(&'a [i64]),
}

impl From<Option<u64>> for Cell<'_> {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Cell::Null, Cell::Count)
    }
}

enum Builder {
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    UInt32(UInt32Builder),
    Float64(Float64Builder),
    Text(StringBuilder),
    Word(StringDictionaryBuilder<UInt16Type>),
    Phrase(StringDictionaryBuilder<UInt32Type>),
    Int64List(ListBuilder<Int64Builder>),
}

/// Rows of one table on their way into a record batch.
pub struct Rows {
    table: &'static Table,
    schema: SchemaRef,
    builders: Vec<Builder>,
}

impl Rows {
    /// An empty set of rows.
    pub fn new(table: &'static Table) -> Self {
        let builders = table.columns.iter().map(|column| Builder::new(column.kind)).collect();
        Self { table, schema: table.schema(), builders }
    }

    /// Appends one row.
    ///
    /// # Panics
    /// If the cells do not match the table's columns: an error of the caller, not of the input.
    pub fn push(&mut self, cells: &[Cell<'_>]) {
        assert_eq!(cells.len(), self.builders.len(), "{}: row width", self.table.file);
        for ((builder, cell), column) in self.builders.iter_mut().zip(cells).zip(self.table.columns)
        {
            assert!(builder.append(*cell), "{}: {cell:?} in {column:?}", self.table.file);
        }
    }

    /// How many rows wait.
    pub fn len(&self) -> usize {
        self.builders.first().map_or(0, Builder::len)
    }

    /// Whether no row waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the rows as one batch and starts anew.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Int64 => Self::Int64(Int64Builder::new()),
            Kind::UInt64 => Self::UInt64(UInt64Builder::new()),
            Kind::UInt32 => Self::UInt32(UInt32Builder::new()),
            Kind::Float64 => Self::Float64(Float64Builder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Word => Self::Word(StringDictionaryBuilder::new()),
            Kind::Phrase => Self::Phrase(StringDictionaryBuilder::new()),
            Kind::Int64List => Self::Int64List(ListBuilder::new(Int64Builder::new())),
        }
    }

    fn append(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Int64(builder), Cell::Int(value)) => builder.append_value(value),
            (Self::Int64(builder), Cell::Null) => builder.append_null(),
            (Self::UInt64(builder), Cell::Count(value)) => builder.append_value(value),
            (Self::UInt64(builder), Cell::Null) => builder.append_null(),
            (Self::UInt32(builder), Cell::Count(value)) => match u32::try_from(value) {
                Ok(value) => builder.append_value(value),
                Err(_) => return false,
            },
            (Self::UInt32(builder), Cell::Null) => builder.append_null(),
            (Self::Float64(builder), Cell::Float(value)) => builder.append_value(value),
            (Self::Float64(builder), Cell::Null) => builder.append_null(),
            (Self::Text(builder), Cell::Text(value)) => builder.append_value(value),
            (Self::Text(builder), Cell::Null) => builder.append_null(),
            (Self::Word(builder), Cell::Text(value)) => builder.append_value(value),
            (Self::Word(builder), Cell::Null) => builder.append_null(),
            (Self::Phrase(builder), Cell::Text(value)) => builder.append_value(value),
            (Self::Phrase(builder), Cell::Null) => builder.append_null(),
            (Self::Int64List(builder), Cell::Ints(values)) => {
                builder.values().append_slice(values);
                builder.append(true);
            }
            (Self::Int64List(builder), Cell::Null) => builder.append_null(),
            _ => return false,
        }
        true
    }

    fn len(&self) -> usize {
        match self {
            Self::Int64(builder) => builder.len(),
            Self::UInt64(builder) => builder.len(),
            Self::UInt32(builder) => builder.len(),
            Self::Float64(builder) => builder.len(),
            Self::Text(builder) => builder.len(),
            Self::Word(builder) => builder.len(),
            Self::Phrase(builder) => builder.len(),
            Self::Int64List(builder) => builder.len(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Int64(builder) => Arc::new(builder.finish()),
            Self::UInt64(builder) => Arc::new(builder.finish()),
            Self::UInt32(builder) => Arc::new(builder.finish()),
            Self::Float64(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Word(builder) => Arc::new(builder.finish_preserve_values()),
            Self::Phrase(builder) => Arc::new(builder.finish_preserve_values()),
            Self::Int64List(builder) => Arc::new(builder.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    static TABLE: Table = Table {
        file: "sample.arrows",
        about: "a row is a sample",
        columns: &[
            Column::needed("time_ns", Kind::Int64, "when"),
            Column::optional("name", Kind::Word, "who"),
            Column::optional("read_bytes", Kind::UInt64, "how much"),
            Column::optional("keys", Kind::Int64List, "which"),
        ],
    };

    #[test]
    fn absent_is_null_and_not_zero() {
        let mut rows = Rows::new(&TABLE);
        rows.push(&[Cell::Int(1), Cell::Text("a"), None.into(), Cell::Ints(&[7, -1])]);
        rows.push(&[Cell::Int(2), Cell::Null, Some(0).into(), Cell::Null]);
        let batch = rows.take().unwrap();
        assert_eq!(batch.num_rows(), 2);
        assert!(batch.column(2).is_null(0));
        assert!(batch.column(2).is_valid(1));
        let keys = batch.column(3).as_list::<i32>();
        assert_eq!(keys.value(0).as_primitive::<Int64Type>().values(), &[7, -1]);
        assert!(keys.is_null(1));
        assert!(rows.is_empty());
    }

    #[test]
    #[should_panic(expected = "row width")]
    fn a_short_row_is_refused() {
        Rows::new(&TABLE).push(&[Cell::Int(1)]);
    }
}
