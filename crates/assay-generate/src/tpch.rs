//! TPC-H tables as Arrow batches, on the `tpchgen` crate: keys as 64-bit integers, money as
//! decimals with two places, dates as days.

use std::fmt::{Display, Write};
use std::sync::Arc;

use arrow_array::builder::{
    Date32Builder, Decimal128Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use crate::{GenerateError, Parts};

/// Rows of a part, about: small enough to overlap with loading, large enough to be worth a turn.
const PART_ROWS: f64 = 60_000.0;
/// Digits before and after the point of a TPC-H decimal.
const DECIMAL: (u8, i8) = (15, 2);
/// Lines of an order on average.
const LINES_PER_ORDER: f64 = 4.0;

/// A column under construction.
trait Column {
    fn data_type() -> DataType;
    fn finish(self) -> ArrayRef;
}

macro_rules! column {
    ($name:ident, $builder:ty, $new:expr, $data_type:expr) => {
        struct $name($builder);
        impl Default for $name {
            fn default() -> Self {
                Self($new)
            }
        }
        impl Column for $name {
            fn data_type() -> DataType {
                $data_type
            }
            fn finish(mut self) -> ArrayRef {
                Arc::new(self.0.finish())
            }
        }
    };
}

column!(Key, Int64Builder, Int64Builder::new(), DataType::Int64);
column!(Number, Int32Builder, Int32Builder::new(), DataType::Int32);
column!(Text, StringBuilder, StringBuilder::new(), DataType::Utf8);
column!(Date, Date32Builder, Date32Builder::new(), DataType::Date32);
column!(
    Money,
    Decimal128Builder,
    Decimal128Builder::new().with_data_type(DataType::Decimal128(DECIMAL.0, DECIMAL.1)),
    DataType::Decimal128(DECIMAL.0, DECIMAL.1)
);

impl Key {
    fn push(&mut self, value: i64) {
        self.0.append_value(value);
    }
}

impl Number {
    fn push(&mut self, value: i32) {
        self.0.append_value(value);
    }
}

impl Money {
    fn push(&mut self, value: TPCHDecimal) {
        self.0.append_value(i128::from(value.0));
    }
}

impl Date {
    fn push(&mut self, value: TPCHDate) {
        self.0.append_value(value.to_unix_epoch());
    }
}

impl Text {
    fn push(&mut self, value: impl Display) {
        write!(self.0, "{value}").expect("writing into memory does not fail");
        self.0.append_value("");
    }
}

/// Whole numbers of items that are stored as decimals.
fn whole(value: i64) -> TPCHDecimal {
    TPCHDecimal(value * 100)
}

/// Tables: name, rows at a scale, generator and columns. `row` names the generator's row.
macro_rules! tables {
    ($scale:ident; $($table:ident, $rows:expr, $generator:ident, $row:ident => {
        $($column:ident: $kind:ident = $value:expr),* $(,)?
    })*) => {
        /// Names of the tables.
        pub const TABLES: &[&str] = &[$(stringify!($table)),*];

        /// The table of this name at a scale.
        pub fn table(name: &str, scale: f64) -> Result<Box<dyn Parts>, GenerateError> {
            match name {
                $(stringify!($table) => Ok(Box::new($table::Table { scale })),)*
                _ => {
                    let names = [TABLES, crate::refresh::TABLES].concat().join(", ");
                    Err(GenerateError::Table("tpch", name.into(), names))
                }
            }
        }

        $(pub(crate) mod $table {
            use super::*;

            pub struct Table {
                pub scale: f64,
            }

            impl Parts for Table {
                fn schema(&self) -> SchemaRef {
                    schema()
                }

                fn parts(&self) -> u32 {
                    (self.rows_expected() as f64 / PART_ROWS).ceil().max(1.0) as u32
                }

                fn rows_expected(&self) -> u64 {
                    let $scale = self.scale;
                    let _ = $scale;
                    f64::round($rows) as u64
                }

                fn make(&self, part: u32) -> RecordBatch {
                    let (part, parts) = (part as i32 + 1, self.parts() as i32);
                    batch($generator::new(self.scale, part, parts).iter())
                }
            }

            /// Rows of the generator as columns of the table.
            pub fn batch(
                rows: impl Iterator<Item = <$generator<'static> as IntoIterator>::Item>,
            ) -> RecordBatch {
                $(let mut $column = $kind::default();)*
                for $row in rows {
                    $($column.push($value);)*
                }
                RecordBatch::try_new(schema(), vec![$($column.finish()),*])
                    .expect("columns and schema come from the same list")
            }

            /// The table's columns.
            pub fn schema() -> SchemaRef {
                Arc::new(Schema::new(vec![
                    $(Field::new(stringify!($column), $kind::data_type(), false)),*
                ]))
            }
        })*
    };
}

tables! { scale;
    region, 5.0, RegionGenerator, row => {
        r_regionkey: Key = row.r_regionkey,
        r_name: Text = row.r_name,
        r_comment: Text = row.r_comment,
    }
    nation, 25.0, NationGenerator, row => {
        n_nationkey: Key = row.n_nationkey,
        n_name: Text = row.n_name,
        n_regionkey: Key = row.n_regionkey,
        n_comment: Text = row.n_comment,
    }
    supplier, 10_000.0 * scale, SupplierGenerator, row => {
        s_suppkey: Key = row.s_suppkey,
        s_name: Text = row.s_name,
        s_address: Text = row.s_address,
        s_nationkey: Key = row.s_nationkey,
        s_phone: Text = row.s_phone,
        s_acctbal: Money = row.s_acctbal,
        s_comment: Text = row.s_comment,
    }
    customer, 150_000.0 * scale, CustomerGenerator, row => {
        c_custkey: Key = row.c_custkey,
        c_name: Text = row.c_name,
        c_address: Text = row.c_address,
        c_nationkey: Key = row.c_nationkey,
        c_phone: Text = row.c_phone,
        c_acctbal: Money = row.c_acctbal,
        c_mktsegment: Text = row.c_mktsegment,
        c_comment: Text = row.c_comment,
    }
    part, 200_000.0 * scale, PartGenerator, row => {
        p_partkey: Key = row.p_partkey,
        p_name: Text = row.p_name,
        p_mfgr: Text = row.p_mfgr,
        p_brand: Text = row.p_brand,
        p_type: Text = row.p_type,
        p_size: Number = row.p_size,
        p_container: Text = row.p_container,
        p_retailprice: Money = row.p_retailprice,
        p_comment: Text = row.p_comment,
    }
    partsupp, 800_000.0 * scale, PartSuppGenerator, row => {
        ps_partkey: Key = row.ps_partkey,
        ps_suppkey: Key = row.ps_suppkey,
        ps_availqty: Number = row.ps_availqty,
        ps_supplycost: Money = row.ps_supplycost,
        ps_comment: Text = row.ps_comment,
    }
    orders, 1_500_000.0 * scale, OrderGenerator, row => {
        o_orderkey: Key = row.o_orderkey,
        o_custkey: Key = row.o_custkey,
        o_orderstatus: Text = row.o_orderstatus,
        o_totalprice: Money = row.o_totalprice,
        o_orderdate: Date = row.o_orderdate,
        o_orderpriority: Text = row.o_orderpriority,
        o_clerk: Text = row.o_clerk,
        o_shippriority: Number = row.o_shippriority,
        o_comment: Text = row.o_comment,
    }
    lineitem, 1_500_000.0 * scale * LINES_PER_ORDER, LineItemGenerator, row => {
        l_orderkey: Key = row.l_orderkey,
        l_partkey: Key = row.l_partkey,
        l_suppkey: Key = row.l_suppkey,
        l_linenumber: Number = row.l_linenumber,
        l_quantity: Money = whole(row.l_quantity),
        l_extendedprice: Money = row.l_extendedprice,
        l_discount: Money = row.l_discount,
        l_tax: Money = row.l_tax,
        l_returnflag: Text = row.l_returnflag,
        l_linestatus: Text = row.l_linestatus,
        l_shipdate: Date = row.l_shipdate,
        l_commitdate: Date = row.l_commitdate,
        l_receiptdate: Date = row.l_receiptdate,
        l_shipinstruct: Text = row.l_shipinstruct,
        l_shipmode: Text = row.l_shipmode,
        l_comment: Text = row.l_comment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Date32Type, Decimal128Type, Int64Type};

    fn rows(name: &str, scale: f64) -> usize {
        let table = table(name, scale).unwrap();
        (0..table.parts()).map(|part| table.make(part).num_rows()).sum()
    }

    /// Row counts of the specification's section 4.2.5 at a hundredth of its scale 1.
    #[test]
    fn tables_have_the_specified_rows() {
        let at_scale_001 = [5, 25, 100, 1_500, 2_000, 8_000, 15_000];
        for (name, expected) in TABLES.iter().zip(at_scale_001) {
            assert_eq!(rows(name, 0.01), expected, "{name}");
        }
        assert_eq!(rows("lineitem", 0.01), 60_175);
    }

    /// The first line of `lineitem.tbl` as the specification's reference generator makes it.
    #[test]
    fn the_first_line_is_the_published_one() {
        let batch = table("lineitem", 1.0).unwrap().make(0);
        let key =
            |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(0);
        let money = |name: &str| {
            batch.column_by_name(name).unwrap().as_primitive::<Decimal128Type>().value(0)
        };
        let text =
            |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
        let shipped =
            batch.column_by_name("l_shipdate").unwrap().as_primitive::<Date32Type>().value(0);
        assert_eq!((key("l_orderkey"), key("l_partkey"), key("l_suppkey")), (1, 155_190, 7_706));
        assert_eq!(
            (money("l_quantity"), money("l_extendedprice"), money("l_tax")),
            (1_700, 2_116_823, 2)
        );
        assert_eq!(shipped, 9_568, "1996-03-13");
        assert_eq!((text("l_shipmode"), text("l_returnflag")), ("TRUCK".into(), "N".into()));
    }
}
