//! Operations whose statements depend on each other's answers: which one is next, and with which
//! values, is logic of ours. One folder a benchmark. A program never waits and never reads a clock:
//! a [`crate::conductor::Conductor`] asks it, on behalf of a session of any protocol.

pub mod bsbm;
pub mod tpcc;

use std::collections::BTreeMap;

use assay_model::event::Receipt;
use assay_model::{ScriptOperation, ScriptStatement};

use crate::session::value::{Bound, Value};

/// What a program is opened with.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its operation: names of its statements and registers.
    pub operation: &'a ScriptOperation,
    /// What the script tells all programs.
    pub parameters: &'a BTreeMap<String, i64>,
    /// Seed of the run.
    pub seed: u64,
    /// Number of the session.
    pub session: u32,
}

/// The logic of one operation, for one session. An execution is `draw`, then `begin`, then `next`
/// and the answers in turn; an attempt that is made again starts at `begin`.
///
/// Errors are words for people: the operation fails with them, and its transaction is rolled back.
pub trait Program: Send {
    /// Draws the inputs of a new execution.
    fn draw(&mut self);

    /// Goes back to the start, with the inputs that were drawn last.
    fn begin(&mut self);

    /// Index of the statement that is to be sent now; `None`: the operation has ended.
    fn next(&mut self) -> Result<Option<u16>, String>;

    /// The value of a register, by its place in the operation's list, for the statement that `next`
    /// returned last.
    fn value(&self, register: u16) -> Bound<'_>;

    /// Whether the statement that comes after the one that `next` returned last needs no answer
    /// that is still to come.
    fn may_go_on(&self) -> bool {
        false
    }

    /// Whether rows are handed to it as they come. Of a program that reads none they are counted,
    /// digested and kept, as those of any operation.
    fn reads_rows(&self) -> bool {
        true
    }

    /// A value of a row that a statement returned, columns in order from 0.
    fn cell(&mut self, statement: u16, column: usize, value: &Value<'_>) -> Result<(), String> {
        let _ = (statement, column, value);
        Ok(())
    }

    /// The row whose values came last is whole.
    fn end_row(&mut self, statement: u16) -> Result<(), String> {
        let _ = statement;
        Ok(())
    }

    /// A statement was answered: it returned or changed so many rows.
    fn answered(&mut self, statement: u16, rows: u32) -> Result<(), String>;

    /// What is worth knowing of the execution that has ended, as bits that the program names.
    fn marks(&self) -> u32 {
        0
    }

    /// What of the execution that has ended is to be found in the database; `None`: nothing.
    fn receipt(&self) -> Option<Receipt> {
        None
    }
}

/// Opens the program that an operation names.
///
/// # Errors
/// If there is none of that name, or its operation or parameters lack what it needs.
pub fn open(name: &str, asked: Asked<'_>) -> Result<Box<dyn Program>, String> {
    let opened = tpcc::open(name, asked).or_else(|| bsbm::open(name, asked));
    opened.unwrap_or_else(|| Err(unknown(name)))
}

/// What the bits of a program's marks are called, from the lowest. `skipped:4` is a number of four
/// bits; a name alone is one bit, which is set or not.
///
/// # Errors
/// If there is no program of that name.
pub fn marks(name: &str) -> Result<&'static [&'static str], String> {
    Ok(if is_of_tpcc(name)? { tpcc::MARKS } else { &[] })
}

/// What the values of a program's receipts are called, in order; empty: it gives none.
///
/// # Errors
/// If there is no program of that name.
pub fn receipt_names(name: &str) -> Result<&'static [&'static str], String> {
    Ok(if is_of_tpcc(name)? { tpcc::receipt_names(name) } else { &[] })
}

/// Whether a program reads rows, so that only a session of ours can play it.
///
/// # Errors
/// If there is no program of that name.
pub fn reads_rows(name: &str) -> Result<bool, String> {
    is_of_tpcc(name)
}

fn is_of_tpcc(name: &str) -> Result<bool, String> {
    let is_known = tpcc::NAMES.contains(&name) || bsbm::NAMES.contains(&name);
    if is_known { Ok(tpcc::NAMES.contains(&name)) } else { Err(unknown(name)) }
}

fn unknown(name: &str) -> String {
    let names = [tpcc::NAMES, bsbm::NAMES].concat().join(", ");
    format!("there is no program {name:?}, but these: {names}")
}

/// The statements of one name: one, or one for each length of a list.
#[derive(Clone, Debug, Default)]
pub struct Family {
    single: Option<u16>,
    by_elements: Vec<Option<u16>>,
}

impl Family {
    /// The statements that an operation calls `name`; `None`: there is none.
    pub fn find(operation: &ScriptOperation, name: &str) -> Option<Self> {
        let mut family = Self::default();
        for (index, statement) in operation.statements.iter().enumerate() {
            let ScriptStatement { name: Some(own), elements, .. } = statement else { continue };
            if own != name {
                continue;
            }
            match elements {
                None => family.single = Some(index as u16),
                Some(elements) => {
                    let place = usize::from(*elements);
                    if family.by_elements.len() <= place {
                        family.by_elements.resize(place + 1, None);
                    }
                    family.by_elements[place] = Some(index as u16);
                }
            }
        }
        (family.single.is_some() || !family.by_elements.is_empty()).then_some(family)
    }

    /// Whether one statement takes all elements of a list; else each element has one of its own.
    pub const fn takes_lists(&self) -> bool {
        self.single.is_none()
    }

    /// The statement for so many elements.
    pub fn with(&self, elements: usize) -> Result<u16, String> {
        let one = self.by_elements.get(elements).copied().flatten();
        self.single.or(one).ok_or_else(|| format!("no statement takes {elements} elements"))
    }
}
