//! Statements that go to the server in one write: one alone, or several where a script is pipelined
//! and none of them needs an answer of those before it. The server commits or skips what is left
//! once a batch, so statements without a transaction of their own share one if they are pipelined.

/// A batch ends with the statement that fills it so far: what is written must not wait for answers
/// to be read.
pub const BATCH_BYTES_MAX: usize = 16 << 10;

/// Which statement comes after a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum After {
    /// The conductor is to be asked once all is answered.
    #[default]
    Asked,
    /// The one that it named last, which could not go with the others.
    Held,
    /// None: the operation ends.
    Ended,
}

/// What was sent together.
#[derive(Debug, Default)]
pub struct Batch {
    statements: Vec<usize>,
    answered: usize,
    last_rows: u64,
    /// What comes after it.
    pub after: After,
}

impl Batch {
    /// Begins an empty one.
    pub fn clear(&mut self) {
        self.statements.clear();
        self.answered = 0;
        self.last_rows = 0;
        self.after = After::Asked;
    }

    /// Adds a statement of the operation.
    pub fn add(&mut self, statement: usize) {
        self.statements.push(statement);
    }

    /// Whether nothing was added yet.
    pub const fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The statement whose answer is coming.
    pub fn answering(&self) -> Option<usize> {
        self.statements.get(self.answered).copied()
    }

    /// The answer of a statement is whole. The last one counts only when the server is ready again,
    /// because what is committed by itself is committed then.
    pub fn completed(&mut self, rows: u64) -> Option<usize> {
        if self.answered + 1 < self.statements.len() {
            self.answered += 1;
            return self.statements.get(self.answered - 1).copied();
        }
        self.last_rows = rows;
        None
    }

    /// The last statement and its rows.
    pub fn last(&self) -> Option<(usize, u64)> {
        self.statements.last().map(|statement| (*statement, self.last_rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_last_are_answered_as_they_come() {
        let mut batch = Batch::default();
        for statement in [4, 7, 7] {
            batch.add(statement);
        }
        assert_eq!((batch.answering(), batch.completed(1)), (Some(4), Some(4)));
        assert_eq!((batch.answering(), batch.completed(2)), (Some(7), Some(7)));
        assert_eq!((batch.answering(), batch.completed(3)), (Some(7), None));
        assert_eq!(batch.last(), Some((7, 3)));
        batch.clear();
        assert_eq!((batch.is_empty(), batch.answering(), batch.last()), (true, None, None));
    }
}
