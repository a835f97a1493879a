//! What a session is to send next, whatever its protocol: the statements of an operation in their
//! turn with values that are drawn, or those that a program asks for. It notes when each was
//! answered.

use std::sync::Arc;

use assay_model::event::Receipt;
use assay_model::{Given, Script, ScriptOperation, ScriptStatement};

use crate::clock::{Clock, MonotonicClock};
use crate::program::{self, Asked, Program};
use crate::script::{Drawer, Drawn, FIXED_SEED, FIXED_SESSION};
use crate::session::SessionError;
use crate::session::value::{Bound, Value};

/// Statements of an execution that are noted without taking memory.
const NOTED_AT_ONCE: usize = 256;

/// When a statement was sent and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementTime {
    /// Its index in the operation.
    pub statement: u16,
    /// When the answer before it had come, or the attempt began.
    pub started_ns: i64,
    /// When its answer had come.
    pub finished_ns: i64,
    /// Rows that it returned or changed.
    pub rows: u32,
}

/// Tells one session what to send. A session calls `begin`, then `next_statement` and `answered`
/// until `next` has none, and `release` when the operation is over.
pub struct Conductor {
    script: Arc<Script>,
    drawer: Drawer,
    programs: Vec<Option<Box<dyn Program>>>,
    operation: usize,
    /// Inputs are drawn once, however often the operation is sent.
    drawn: bool,
    /// Which row of values the next operation has; `None`: one is drawn.
    row: Option<u32>,
    /// Of a script: the statement whose turn is next.
    turn: usize,
    /// The statement that was handed out last.
    current: usize,
    rows: u64,
    noted_ns: i64,
    times: Vec<StatementTime>,
}

/// The program of an operation, if it has one.
fn opened(
    script: &Script,
    operation: &ScriptOperation,
    seed: u64,
    session: u32,
) -> Result<Option<Box<dyn Program>>, String> {
    let asked = Asked { operation, parameters: &script.parameters, seed, session };
    operation.program.as_deref().map(|name| program::open(name, asked)).transpose()
}

fn given(value: &Given) -> Bound<'_> {
    match value {
        Given::Integer(number) => Bound::Integer(*number),
        Given::Decimal(coefficient, scale) => Bound::Decimal(*coefficient, *scale),
        Given::Text(text) => Bound::Text(text),
    }
}

fn wrong(message: String) -> SessionError {
    SessionError { class: "program".into(), message, retryable: false }
}

impl Conductor {
    /// The conductor of session number `session`.
    ///
    /// # Errors
    /// If an operation names a program that there is not, or one that lacks what it needs.
    pub fn new(script: Arc<Script>, seed: u64, session: u32) -> Result<Self, SessionError> {
        let open = |operation| opened(&script, operation, seed, session);
        let programs = script.operations.iter().map(open).collect::<Result<_, _>>();
        Ok(Self {
            programs: programs.map_err(wrong)?,
            drawer: Drawer::new(&script, seed, session),
            script,
            operation: 0,
            drawn: false,
            row: None,
            turn: 0,
            current: 0,
            rows: 0,
            noted_ns: 0,
            times: Vec::with_capacity(NOTED_AT_ONCE),
        })
    }

    /// What is conducted.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Says which row of values the next operation has; `None`: one is drawn.
    pub const fn choose(&mut self, row: Option<u32>) {
        self.row = row;
    }

    /// Begins an operation, or the one that failed once more, with the same inputs.
    pub fn begin(&mut self, operation: u16) {
        self.operation = usize::from(operation);
        self.turn = 0;
        self.current = 0;
        self.rows = 0;
        self.times.clear();
        let asked = &self.script.operations[self.operation];
        if asked.fixed && !self.drawn {
            // What was opened once can be opened again.
            if let Ok(anew) = opened(&self.script, asked, FIXED_SEED, FIXED_SESSION) {
                self.programs[self.operation] = anew;
            }
        }
        if let Some(program) = &mut self.programs[self.operation] {
            if !self.drawn {
                program.draw();
            }
            program.begin();
        } else if !self.drawn {
            self.drawer.draw(&self.script, operation, self.row);
        }
        self.drawn = true;
        if self.is_noted() {
            self.noted_ns = MonotonicClock.now_ns();
        }
    }

    /// The index of the statement that is to be sent now; `None`: the operation has ended.
    pub fn next_statement(&mut self) -> Result<Option<usize>, SessionError> {
        let next = if let Some(program) = &mut self.programs[self.operation] {
            program.next().map_err(wrong)?.map(usize::from)
        } else {
            let there = self.script.operations[self.operation].statements.len();
            let turn = self.turn;
            self.turn += 1;
            (turn < there).then_some(turn)
        };
        if let Some(statement) = next {
            self.current = statement;
        }
        Ok(next)
    }

    /// Whether the statement after the one that `next_statement` returned last may be sent before that one is
    /// answered.
    pub fn may_go_on(&self) -> bool {
        self.script.pipelined
            && match &self.programs[self.operation] {
                Some(program) => program.may_go_on(),
                None => self.turn < self.script.operations[self.operation].statements.len(),
            }
    }

    /// The operation that was begun last.
    pub const fn operation(&self) -> usize {
        self.operation
    }

    /// The statement that `next_statement` returned last.
    pub fn statement(&self) -> &ScriptStatement {
        &self.script.operations[self.operation].statements[self.current]
    }

    /// What is to be bound for `$1`, `$2`, ... of the statement that `next_statement` returned last.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Bound<'_>> {
        let asked = &self.script.operations[self.operation];
        let program = self.programs[self.operation].as_deref();
        let drawn = self.drawer.values();
        asked.statements[self.current].values.iter().map(move |place| match program {
            Some(program) => program.value(*place),
            None => match (drawn[usize::from(*place)], &asked.draws[usize::from(*place)].choice) {
                (Drawn::Integer(number), _) => Bound::Integer(number),
                (Drawn::Choice(index), Some(choice)) => {
                    choice[index].as_ref().map_or(Bound::Null, given)
                }
                (Drawn::Choice(_), None) => Bound::Null,
            },
        })
    }

    /// What the value at a place, counted from 0, of that statement is, for an error.
    pub fn value_name(&self, place: usize) -> String {
        let asked = &self.script.operations[self.operation];
        let index = asked.statements[self.current].values.get(place).copied().map(usize::from);
        let draw = index.and_then(|index| asked.draws.get(index)).map(|draw| &draw.name);
        let register = index.and_then(|index| asked.registers.get(index));
        let name = if asked.program.is_some() { register } else { draw };
        format!("parameter {}", name.map_or("?", String::as_str))
    }

    /// Whether a program reads the rows: each value is handed to `cell` as it comes, and nobody
    /// digests or keeps them.
    pub fn reads_rows(&self) -> bool {
        self.programs[self.operation].as_ref().is_some_and(|program| program.reads_rows())
    }

    /// A value of a row that statement `statement` returned.
    pub fn cell(
        &mut self,
        statement: usize,
        column: usize,
        value: &Value<'_>,
    ) -> Result<(), SessionError> {
        match &mut self.programs[self.operation] {
            Some(program) => program.cell(statement as u16, column, value).map_err(wrong),
            None => Ok(()),
        }
    }

    /// The row whose values came last is whole.
    pub fn end_row(&mut self, statement: usize) -> Result<(), SessionError> {
        match &mut self.programs[self.operation] {
            Some(program) => program.end_row(statement as u16).map_err(wrong),
            None => Ok(()),
        }
    }

    /// A statement was answered without an error.
    pub fn answered(&mut self, statement: usize, rows: u64) -> Result<(), SessionError> {
        // A server may report any count.
        self.rows = self.rows.saturating_add(rows);
        let (statement, rows) = (statement as u16, u32::try_from(rows).unwrap_or(u32::MAX));
        if self.is_noted() {
            let finished_ns = MonotonicClock.now_ns();
            let started_ns = std::mem::replace(&mut self.noted_ns, finished_ns);
            self.times.push(StatementTime { statement, started_ns, finished_ns, rows });
        }
        match &mut self.programs[self.operation] {
            Some(program) => program.answered(statement, rows).map_err(wrong),
            None => Ok(()),
        }
    }

    /// Rows that the statements of this attempt returned or changed.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// When the statements of this attempt were answered; empty where there is one alone.
    pub fn times(&self) -> &[StatementTime] {
        &self.times
    }

    /// What the operation's program noted.
    pub fn marks(&self) -> Option<u32> {
        self.programs[self.operation].as_ref().map(|program| program.marks())
    }

    /// What of the operation is to be found in the database, if its program says so.
    pub fn receipt(&self) -> Option<Receipt> {
        self.programs[self.operation].as_ref().and_then(|program| program.receipt())
    }

    /// The operation is over: the next one has inputs of its own.
    pub fn release(&mut self) {
        self.drawn = false;
    }

    /// Whether each statement is noted, with its rows: where there is one alone, its time is the operation's.
    pub fn is_noted(&self) -> bool {
        self.programs[self.operation].is_some()
            || self.script.operations[self.operation].statements.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conductor(script: &str) -> Conductor {
        Conductor::new(Arc::new(serde_json::from_str(script).unwrap()), 1, 0).unwrap()
    }

    #[test]
    fn statements_are_played_in_turn_and_noted_where_there_are_several() {
        let mut conductor = conductor(
            r#"{"operations": [
                {"name": "a", "statements": [{"text": "begin"}, {"text": "x", "values": [0, 1]}],
                 "draws": [{"name": "n", "integer": [5, 5]}, {"name": "c", "choice": ["y"]}]},
                {"name": "b", "statements": [{"text": "z"}]}]}"#,
        );
        conductor.begin(0);
        assert_eq!(conductor.next_statement().unwrap(), Some(0));
        assert_eq!(conductor.values().len(), 0);
        conductor.answered(0, 0).unwrap();
        assert_eq!(conductor.next_statement().unwrap(), Some(1));
        let values: Vec<Bound<'_>> = conductor.values().collect();
        assert_eq!(values, [Bound::Integer(5), Bound::Text("y")]);
        assert_eq!(conductor.value_name(1), "parameter c");
        conductor.answered(1, 3).unwrap();
        assert_eq!(conductor.next_statement().unwrap(), None);
        let times = conductor.times();
        assert_eq!((times.len(), times[1].rows, conductor.rows()), (2, 3, 3));
        assert_eq!(times[0].finished_ns, times[1].started_ns);
        conductor.begin(1);
        conductor.next_statement().unwrap();
        conductor.answered(0, 1).unwrap();
        assert!(conductor.times().is_empty());
    }

    #[test]
    fn values_of_one_row_belong_together() {
        let mut conductor = conductor(
            r#"{"operations": [{"name": "a", "statements": [{"text": "x", "values": [1, 0, 2]}],
                "joint": true, "draws": [{"name": "n", "choice": [1, 2, null]},
                {"name": "t", "choice": ["one", "two", "none"]},
                {"name": "d", "choice": [[150, 2], [-2, 0], null]}]}]}"#,
        );
        let mut values = |row| {
            conductor.release();
            conductor.choose(row);
            conductor.begin(0);
            conductor.next_statement().unwrap();
            format!("{:?}", conductor.values().collect::<Vec<_>>())
        };
        assert_eq!(values(Some(0)), r#"[Text("one"), Integer(1), Decimal(150, 2)]"#);
        assert_eq!(values(Some(2)), r#"[Text("none"), Null, Null]"#);
        let rows = [0, 1, 2].map(|row| values(Some(row)));
        let drawn: Vec<String> = (0..100).map(|_| values(None)).collect();
        assert!(drawn.iter().all(|values| rows.contains(values)));
        assert!(rows.iter().all(|row| drawn.contains(row)));
    }

    #[test]
    fn an_attempt_that_is_made_again_has_the_same_inputs() {
        let mut conductor = conductor(
            r#"{"operations": [{"name": "a", "statements": [{"text": "x", "values": [0]}],
                "draws": [{"name": "n", "integer": [0, 1000000000]}]}]}"#,
        );
        let drawn = |conductor: &mut Conductor| {
            conductor.begin(0);
            conductor.next_statement().unwrap();
            format!("{:?}", conductor.values().next())
        };
        let first = drawn(&mut conductor);
        assert_eq!(first, drawn(&mut conductor));
        conductor.release();
        assert_ne!(first, drawn(&mut conductor));
    }

    #[test]
    fn a_program_that_is_not_there_is_refused() {
        let script = r#"{"operations": [{"name": "a", "program": "b.c",
            "statements": [{"text": "x", "name": "x"}]}]}"#;
        let refused = Conductor::new(Arc::new(serde_json::from_str(script).unwrap()), 1, 0);
        assert!(refused.err().unwrap().message.contains("b.c"));
    }
}
