//! Thousands of transactions against answers from memory.

mod database;
mod deliveries;
mod orders;
mod others;
mod refusals;

use std::collections::BTreeMap;

use assay_model::{ScriptOperation, ScriptStatement};

use super::{MARKS, NAMES, open};
use crate::program::{Asked, Program};
use crate::session::value::{Bound, Value};

/// A value that was bound.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    Null,
    Integer(i64),
    Decimal(i64, u8),
    Text(String),
}

impl Held {
    fn integer(&self) -> i64 {
        let Self::Integer(number) = self else { panic!("{self:?} is no whole number") };
        *number
    }

    fn cents(&self) -> i64 {
        let Self::Decimal(cents, 2) = self else { panic!("{self:?} is no amount") };
        *cents
    }

    fn text(&self) -> &str {
        let Self::Text(text) = self else { panic!("{self:?} is no text") };
        text
    }
}

/// One statement that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    name: String,
    elements: usize,
    values: BTreeMap<String, Held>,
}

impl Sent {
    fn get(&self, register: &str) -> &Held {
        &self.values[register]
    }

    fn list(&self, register: &str) -> Vec<&Held> {
        (1..=self.elements).map(|number| &self.values[&format!("{register}.{number}")]).collect()
    }

    fn integers(&self, register: &str) -> Vec<i64> {
        self.list(register).into_iter().map(Held::integer).collect()
    }
}

type Row = Vec<Value<'static>>;

fn number(value: i64) -> Value<'static> {
    Value::Exact(value.into(), 0)
}

/// An operation of a program: each statement binds what is named beside it; what ends in `#` is of
/// a list.
fn operation(statements: &[(&str, &[&str])]) -> ScriptOperation {
    let mut operation = ScriptOperation {
        name: "an operation".into(),
        statements: Vec::new(),
        draws: Vec::new(),
        program: None,
        registers: Vec::new(),
        fixed: false,
        joint: false,
    };
    for (name, binds) in statements {
        let listed = binds.iter().any(|bind| bind.ends_with('#'));
        for elements in 1..=if listed { 15_u16 } else { 1 } {
            let written = binds.iter().flat_map(|bind| match bind.strip_suffix('#') {
                Some(stem) => (1..=elements).map(|number| format!("{stem}{number}")).collect(),
                None => vec![String::from(*bind)],
            });
            let values = written.map(|register| {
                let place = operation.registers.iter().position(|name| *name == register);
                place.unwrap_or_else(|| {
                    operation.registers.push(register);
                    operation.registers.len() - 1
                }) as u16
            });
            let values = values.collect();
            operation.statements.push(ScriptStatement {
                text: String::new(),
                values,
                name: Some(String::from(*name)),
                elements: listed.then_some(elements),
            });
        }
    }
    operation
}

/// Who asks: terminals or none.
#[derive(Clone, Copy)]
struct Who {
    warehouses: i64,
    terminals: i64,
    seed: u64,
    session: u32,
}

const ALONE: Who = Who { warehouses: 1, terminals: 0, seed: 1, session: 0 };
const OF_FOUR: Who = Who { warehouses: 4, ..ALONE };

fn opened(name: &str, operation: &ScriptOperation, who: Who) -> Result<Box<dyn Program>, String> {
    let entries = [("warehouses", who.warehouses), ("terminals", who.terminals)];
    let parameters = entries.map(|(name, value)| (name.to_string(), value)).into();
    let (seed, session) = (who.seed, who.session);
    open(name, Asked { operation, parameters: &parameters, seed, session }).unwrap()
}

/// Sends what a program asks for until it ends.
fn attempt(
    program: &mut dyn Program,
    operation: &ScriptOperation,
    answer: &mut dyn FnMut(&Sent) -> Vec<Row>,
) -> Result<Vec<Sent>, String> {
    program.begin();
    let mut all = Vec::new();
    while let Some(statement) = program.next()? {
        let asked = &operation.statements[usize::from(statement)];
        let held = |place: &u16| {
            let value = match program.value(*place) {
                Bound::Null => Held::Null,
                Bound::Integer(number) => Held::Integer(number),
                Bound::Decimal(coefficient, scale) => Held::Decimal(coefficient, scale),
                Bound::Text(text) => Held::Text(text.into()),
                Bound::Timestamp(_) => panic!("no time is bound"),
            };
            (operation.registers[usize::from(*place)].clone(), value)
        };
        let sent = Sent {
            name: asked.name.clone().unwrap(),
            elements: asked.elements.map_or(1, usize::from),
            values: asked.values.iter().map(held).collect(),
        };
        let rows = answer(&sent);
        for row in &rows {
            for (column, value) in row.iter().enumerate() {
                program.cell(statement, column, value)?;
            }
            program.end_row(statement)?;
        }
        all.push(sent);
        program.answered(statement, rows.len() as u32)?;
    }
    Ok(all)
}

fn names(sent: &[Sent]) -> Vec<&str> {
    sent.iter().map(|one| one.name.as_str()).collect()
}

fn find<'a>(sent: &'a [Sent], name: &str) -> &'a Sent {
    sent.iter().find(|one| one.name == name).unwrap()
}

/// A mark of a program, by name.
fn mark(program: &dyn Program, wanted: &str) -> u32 {
    let mut shift = 0;
    for field in MARKS {
        let (name, bits) =
            field.split_once(':').map_or((*field, 1), |(a, b)| (a, b.parse().unwrap()));
        if name == wanted {
            return (program.marks() >> shift) & ((1 << bits) - 1);
        }
        shift += bits;
    }
    panic!("there is no mark {wanted}")
}

/// Whether a share is near what it should be: six standard deviations.
fn is_near(share: f64, expected: f64, of: usize) -> bool {
    (share - expected).abs() < 6.0 * (expected * (1.0 - expected) / of as f64).sqrt()
}

#[test]
fn each_of_the_five_is_known_and_has_marks() {
    for name in NAMES {
        assert_eq!(crate::program::marks(name), Ok(MARKS));
    }
    assert_eq!(crate::program::receipt_names("tpcc.new-order").unwrap(), ["w_id", "d_id", "o_id"]);
    assert_eq!(crate::program::receipt_names("tpcc.payment"), Ok(&[][..]));
    assert!(crate::program::receipt_names("tpcc.lunch").is_err());
    assert!(crate::program::marks("tpcc.lunch").unwrap_err().contains("tpcc.payment"));
}
