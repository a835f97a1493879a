//! What a session executes: statements, and operations made of them. The JSON form is that of
//! `python/assay/model/script.py`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A value that a draw gives as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// A whole number.
    Integer(i64),
    /// `coefficient * 10^-scale`.
    Decimal(i64, u8),
    /// Text.
    Text(String),
}

/// How one value of an operation is drawn at each execution. Exactly one form is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// As the text names it.
    pub name: String,
    /// A whole number from the first to the second, both included, equally likely.
    #[serde(default)]
    pub integer: Option<[i64; 2]>,
    /// One of these, equally likely; `None` among them is an absent value.
    #[serde(default)]
    pub choice: Option<Vec<Option<Given>>>,
}

/// One statement, sent and answered as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStatement {
    /// Text with `$1`, `$2`, ... where values are bound.
    pub text: String,
    /// For `$1`, `$2`, ...: the index of the draw in its operation, or of the register where the
    /// operation has a program.
    #[serde(default)]
    pub values: Vec<u16>,
    /// What its program calls it; `None`: it is played in its turn.
    #[serde(default)]
    pub name: Option<String>,
    /// How many elements of a list it has places for; `None`: it has no list.
    #[serde(default)]
    pub elements: Option<u16>,
}

/// One operation: its draws, made anew at each execution, and its statements in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptOperation {
    /// Name, as in the plan.
    pub name: String,
    /// Statements, sent one after another.
    pub statements: Vec<ScriptStatement>,
    /// Values that the statements share.
    #[serde(default)]
    pub draws: Vec<Draw>,
    /// Logic of ours that says which statement is next and with which values, such as
    /// `tpcc.payment`; `None`: statements are played in order, with values that are drawn.
    #[serde(default)]
    pub program: Option<String>,
    /// What statements of a program bind, as it calls them: `w_id`, or `i_id.3` for the third
    /// element of a list, counted from 1.
    #[serde(default)]
    pub registers: Vec<String>,
    /// Its values are the first that are drawn from seed 0, at each execution of any session: what
    /// it returns can be compared with rows that are known.
    #[serde(default)]
    pub fixed: bool,
    /// Its draws are columns of one table: each execution has the values of one row, which the
    /// plan names or which is drawn.
    #[serde(default)]
    pub joint: bool,
}

/// Everything that a run's sessions can be asked to execute; operation `n` is the plan's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Operations in the plan's order.
    pub operations: Vec<ScriptOperation>,
    /// Whether statements are prepared once a session; else each execution parses and plans anew,
    /// as a query that is asked once does.
    #[serde(default)]
    pub prepared: bool,
    /// Whether statements that need no earlier answer are sent before it has come.
    #[serde(default)]
    pub pipelined: bool,
    /// What programs are told, by name: numbers such as `warehouses`.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
}

/// A script that cannot be executed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("operation {operation}: {reason}")]
pub struct ScriptError {
    /// Which operation.
    pub operation: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Script {
    /// Refuses what a session could not execute.
    pub fn validate(&self) -> Result<(), ScriptError> {
        for operation in &self.operations {
            operation
                .check()
                .map_err(|reason| ScriptError { operation: operation.name.clone(), reason })?;
        }
        Ok(())
    }
}

impl ScriptOperation {
    fn check(&self) -> Result<(), String> {
        if self.statements.is_empty() {
            return Err("it has no statement".into());
        }
        for draw in &self.draws {
            match (&draw.integer, &draw.choice) {
                (Some([low, high]), None) if low > high => {
                    return Err(format!("{} is drawn from {low} to {high}", draw.name));
                }
                (None, Some(choice)) if choice.is_empty() => {
                    return Err(format!("{} is drawn from an empty list", draw.name));
                }
                (Some(_), None) | (None, Some(_)) => {}
                _ => return Err(format!("{} needs one of integer and choice", draw.name)),
            }
        }
        let mut lengths = self.draws.iter().map(|draw| draw.choice.as_ref().map(Vec::len));
        if let Some(first) = lengths.next()
            && self.joint
            && (first.is_none() || lengths.any(|length| length != first))
        {
            return Err("its draws are columns of rows, and have not as many values each".into());
        }
        if self.program.is_some() && self.statements.iter().any(|s| s.name.is_none()) {
            return Err("a statement of its program has no name".into());
        }
        let there = if self.program.is_some() { self.registers.len() } else { self.draws.len() };
        let wanted = self.statements.iter().flat_map(|statement| &statement.values).max();
        match wanted {
            Some(index) if usize::from(*index) >= there => {
                Err(format!("a statement binds value {index}, which is not drawn"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(operation: &str) -> String {
        let text = format!(r#"{{"operations": [{operation}]}}"#);
        let script: Script = serde_json::from_str(&text).unwrap();
        script.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_script_that_cannot_be_executed_says_why() {
        let statement = r#""statements": [{"text": "commit", "values": [0]}]"#;
        assert!(reason(r#"{"name": "a", "statements": []}"#).contains("no statement"));
        assert!(reason(&format!(r#"{{"name": "a", {statement}}}"#)).contains("not drawn"));
        let draw = |form: &str| {
            reason(&format!(r#"{{"name": "a", {statement}, "draws": [{{"name": "x"{form}}}]}}"#))
        };
        assert!(draw("").contains("one of integer and choice"));
        assert!(draw(r#", "integer": [2, 1]"#).contains("from 2 to 1"));
        assert!(draw(r#", "choice": []"#).contains("empty list"));
        let draws = r#""draws": [{"name": "x", "choice": [1]}, {"name": "y", "choice": []}]"#;
        let draws = draws.replace("[]", "[1, null]");
        let rows = format!(r#"{{"name": "a", {statement}, {draws}, "joint": true}}"#);
        assert!(reason(&rows).contains("columns of rows"));
    }
}
