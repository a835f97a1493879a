//! The queries of BSBM V3, the Berlin SPARQL Benchmark: each is one statement whose values are drawn
//! of the world that its data are of. Statements have numbers of things, in SPARQL within IRIs, so
//! that both forms of a query ask for the same. Their texts stand in the workloads' folders.

mod inputs;
mod registers;
#[cfg(test)]
mod tests;

use self::inputs::Inputs;
use self::registers::Register;
use super::{Asked, Program};
use crate::session::value::Bound;

/// The programs' names.
pub const NAMES: &[&str] = &["bsbm.query"];

/// Opens the program of that name; `None`: it is none of BSBM's.
///
/// # Errors
/// If the parameters are not there, a register is unknown, or there is not one statement.
pub fn open(name: &str, asked: Asked<'_>) -> Option<Result<Box<dyn Program>, String>> {
    NAMES.contains(&name).then(|| {
        let opened = Query::open(asked).map_err(|reason| format!("{name}: {reason}"))?;
        Ok(Box::new(opened) as Box<dyn Program>)
    })
}

/// A query, or an update.
struct Query {
    inputs: Inputs,
    registers: Vec<Register>,
    sent: bool,
}

impl Query {
    fn open(asked: Asked<'_>) -> Result<Self, String> {
        if asked.operation.statements.len() != 1 {
            return Err("an operation is one statement".into());
        }
        let named = asked.operation.registers.iter();
        let registers = named.map(|name| registers::find(name)).collect::<Result<Vec<_>, _>>()?;
        let inputs = Inputs::new(asked, &registers)?;
        Ok(Self { inputs, registers, sent: false })
    }
}

impl Program for Query {
    fn draw(&mut self) {
        self.inputs.draw();
    }

    fn begin(&mut self) {
        self.sent = false;
    }

    fn next(&mut self) -> Result<Option<u16>, String> {
        if self.inputs.is_exhausted() {
            return Err(
                "there are no more numbers for products that are inserted: play fewer mixes, \
                        or spread them over more clients"
                    .into(),
            );
        }
        Ok((!std::mem::replace(&mut self.sent, true)).then_some(0))
    }

    fn value(&self, register: u16) -> Bound<'_> {
        self.inputs.value(self.registers[usize::from(register)])
    }

    fn reads_rows(&self) -> bool {
        false
    }

    fn answered(&mut self, _statement: u16, _rows: u32) -> Result<(), String> {
        Ok(())
    }
}
