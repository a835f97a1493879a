//! Plays a transaction whose steps have an order: which statement of the file is which step, and
//! which register is which value.

use std::collections::VecDeque;

use assay_model::ScriptOperation;
use assay_model::event::Receipt;

use crate::program::{Family, Program};
use crate::session::value::{Bound, Value};

/// One step of a transaction.
pub struct Step<S> {
    /// Which one it is.
    pub is: S,
    /// What its statement is called.
    pub name: &'static str,
    /// Whether a file may leave it out, because another statement does the same.
    pub optional: bool,
    /// Whether answers before it have to be there: else it may be sent ahead of them. What changes
    /// data waits for what could fail, because an engine that has ended the transaction would carry
    /// it out by itself.
    pub waits: bool,
}

/// A step that a file has, and that waits.
pub const fn step<S>(is: S, name: &'static str) -> Step<S> {
    Step { is, name, optional: false, waits: true }
}

impl<S> Step<S> {
    /// The same, which may be left out.
    pub const fn or_not(self) -> Self
    where
        S: Copy,
    {
        Self { optional: true, ..self }
    }

    /// The same, which needs no answer of those before it.
    pub const fn at_once(self) -> Self
    where
        S: Copy,
    {
        Self { waits: false, ..self }
    }
}

/// A name that statements bind a value by.
pub struct Register<R> {
    /// Which value it is.
    pub is: R,
    /// As statements write it, without a number.
    pub name: &'static str,
    /// Whether there is one for each element of a list.
    pub listed: bool,
}

/// A register that has one value.
pub const fn one<R>(is: R, name: &'static str) -> Register<R> {
    Register { is, name, listed: false }
}

/// A register that has a value for each element of a list.
pub const fn each<R>(is: R, name: &'static str) -> Register<R> {
    Register { is, name, listed: true }
}

/// Whether it is a step's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is left out this time.
    Not,
    /// It is sent once.
    Once,
    /// It is for so many elements of a list: sent once if the statement takes lists, else once
    /// for each.
    Each(usize),
}

/// The logic of one transaction, as [`Play`] needs it. Methods are as those of [`Program`].
pub trait Transaction: Send {
    /// Its steps.
    type Step: Copy + PartialEq + Send + 'static;
    /// Its registers.
    type Register: Copy + Send + 'static;
    /// Steps in their order. One may be there several times.
    const STEPS: &'static [Step<Self::Step>];
    /// All registers.
    const REGISTERS: &'static [Register<Self::Register>];

    /// Tells which steps there are statements for.
    fn opened(&mut self, _there: &dyn Fn(Self::Step) -> bool) {}
    /// Draws new inputs.
    fn draw(&mut self);
    /// Forgets the answers.
    fn begin(&mut self);
    /// Whether it is the turn of the step that comes next in order. That of a step which does not
    /// wait is known from the inputs.
    fn turn(&self, step: Self::Step) -> Result<Turn, String>;
    /// The value of a register; `element`, from 0, matters where it is of a list.
    fn value(&self, register: Self::Register, element: usize) -> Bound<'_>;
    /// A value of a row.
    fn cell(&mut self, step: Self::Step, column: usize, value: &Value<'_>) -> Result<(), String>;
    /// The row is whole.
    fn end_row(&mut self, _step: Self::Step) -> Result<(), String> {
        Ok(())
    }
    /// The step was answered, whether it was sent once or once for each element.
    fn answered(&mut self, _step: Self::Step, _rows: u32) -> Result<(), String> {
        Ok(())
    }
    /// What is noted.
    fn marks(&self) -> u32;
    /// What is to be found in the database.
    fn receipt(&self) -> Option<Receipt> {
        None
    }
}

/// A transaction with the statements of a file.
pub struct Play<T: Transaction> {
    transaction: T,
    /// For each step in order: its statements.
    families: Vec<Option<Family>>,
    /// For each statement: the step that it is of.
    steps: Vec<T::Step>,
    /// For each register of the file: which it is, and of which element.
    registers: Vec<(T::Register, Option<usize>)>,
    /// The step in order that is next.
    position: usize,
    /// Of a step that is sent once for each element: which one, and how many there are.
    element: usize,
    elements: usize,
    /// Of the steps that were sent: how many answers are still to come.
    awaited: VecDeque<usize>,
    /// Rows of the answers that came of the first of them.
    rows: u32,
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut named: Vec<&str> = Vec::new();
    all.for_each(|name| {
        if !named.contains(&name) {
            named.push(name);
        }
    });
    named.join(", ")
}

impl<T: Transaction> Play<T> {
    /// Finds the statements and registers of a file.
    ///
    /// # Errors
    /// If one is unknown, or a statement is missing; with the list of those there are.
    pub fn open(mut transaction: T, operation: &ScriptOperation) -> Result<Self, String> {
        let families: Vec<_> =
            T::STEPS.iter().map(|step| Family::find(operation, step.name)).collect();
        for (step, family) in T::STEPS.iter().zip(&families) {
            if family.is_none() && !step.optional {
                let there = operation.statements.iter().filter_map(|one| one.name.as_deref());
                return Err(format!("no statement is named {}: {}", step.name, names(there)));
            }
        }
        let steps = operation.statements.iter().map(|one| {
            let name = one.name.as_deref().unwrap_or_default();
            let step = T::STEPS.iter().find(|step| step.name == name);
            step.map(|step| step.is).ok_or_else(|| {
                let all = names(T::STEPS.iter().map(|step| step.name));
                format!("it asks no statement named {name:?}, but these: {all}")
            })
        });
        let steps = steps.collect::<Result<_, _>>()?;
        let registers = operation.registers.iter().map(|name| Self::register(name));
        let registers = registers.collect::<Result<_, _>>()?;
        let there = |asked| {
            let pairs = T::STEPS.iter().zip(&families);
            pairs.into_iter().any(|(step, family)| step.is == asked && family.is_some())
        };
        transaction.opened(&there);
        Ok(Self {
            transaction,
            families,
            steps,
            registers,
            position: 0,
            element: 0,
            elements: 0,
            awaited: VecDeque::with_capacity(T::STEPS.len()),
            rows: 0,
        })
    }

    fn register(text: &str) -> Result<(T::Register, Option<usize>), String> {
        let (name, number) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        let Some(register) = T::REGISTERS.iter().find(|register| register.name == name) else {
            let all = names(T::REGISTERS.iter().map(|register| register.name));
            return Err(format!("it has no register {text:?}, but these: {all}"));
        };
        let element = match number {
            None => None,
            Some(_) if !register.listed => {
                return Err(format!("register {text:?}: there is one {name}, and no list"));
            }
            Some(number) => match number.parse::<usize>() {
                Ok(number) if number > 0 => Some(number - 1),
                _ => return Err(format!("register {text:?}: elements are numbered from 1")),
            },
        };
        Ok((register.is, element))
    }
}

impl<T: Transaction> Program for Play<T> {
    fn draw(&mut self) {
        self.transaction.draw();
    }

    fn begin(&mut self) {
        self.transaction.begin();
        (self.position, self.element, self.elements, self.rows) = (0, 0, 0, 0);
        self.awaited.clear();
    }

    fn next(&mut self) -> Result<Option<u16>, String> {
        if self.element + 1 < self.elements {
            self.element += 1;
            let family = self.families[self.position - 1].as_ref();
            return family.map(|family| family.with(1)).transpose();
        }
        (self.element, self.elements) = (0, 0);
        while let Some(step) = T::STEPS.get(self.position) {
            self.position += 1;
            let Some(family) = &self.families[self.position - 1] else { continue };
            let (length, answers) = match self.transaction.turn(step.is)? {
                Turn::Not | Turn::Each(0) => continue,
                Turn::Once => (0, 1),
                Turn::Each(count) if family.takes_lists() => (count, 1),
                Turn::Each(count) => (1, count),
            };
            self.elements = answers;
            self.awaited.push_back(answers);
            return family.with(length).map(Some);
        }
        Ok(None)
    }

    fn value(&self, register: u16) -> Bound<'_> {
        let (register, element) = self.registers[usize::from(register)];
        self.transaction.value(register, element.unwrap_or(self.element))
    }

    fn may_go_on(&self) -> bool {
        if self.element + 1 < self.elements {
            return true;
        }
        for (step, family) in T::STEPS.iter().zip(&self.families).skip(self.position) {
            if family.is_none() {
                continue;
            }
            if step.waits {
                return false;
            }
            if !matches!(self.transaction.turn(step.is), Ok(Turn::Not | Turn::Each(0))) {
                return true;
            }
        }
        false
    }

    fn cell(&mut self, statement: u16, column: usize, value: &Value<'_>) -> Result<(), String> {
        self.transaction.cell(self.steps[usize::from(statement)], column, value)
    }

    fn end_row(&mut self, statement: u16) -> Result<(), String> {
        self.transaction.end_row(self.steps[usize::from(statement)])
    }

    fn answered(&mut self, statement: u16, rows: u32) -> Result<(), String> {
        self.rows = self.rows.saturating_add(rows);
        match self.awaited.front_mut() {
            Some(awaited) if *awaited > 1 => {
                *awaited -= 1;
                Ok(())
            }
            _ => {
                self.awaited.pop_front();
                let rows = std::mem::take(&mut self.rows);
                self.transaction.answered(self.steps[usize::from(statement)], rows)
            }
        }
    }

    fn marks(&self) -> u32 {
        self.transaction.marks()
    }

    fn receipt(&self) -> Option<Receipt> {
        self.transaction.receipt()
    }
}
