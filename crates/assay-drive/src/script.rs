//! Draws the values of operations. Each value has a stream of its own, named by seed, session,
//! operation and value, so that adding an operation changes no other operation's values.

use assay_model::{Draw, Script, ScriptOperation, SplitMix};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What operations with fixed values are drawn from, whatever the run and the session.
pub(crate) const FIXED_SEED: u64 = 0;
pub(crate) const FIXED_SESSION: u32 = 0;

/// A drawn value: a number, or the place in the list that its draw gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Of a draw of kind `integer`.
    Integer(i64),
    /// Of a draw of kind `choice`: the index of the text.
    Choice(usize),
}

/// Draws for one session.
pub struct Drawer {
    streams: Vec<Vec<SplitMix>>,
    drawn: Vec<Drawn>,
}

impl Drawer {
    /// The streams of session number `session`.
    pub fn new(script: &Script, seed: u64, session: u32) -> Self {
        let streams = script.operations.iter().map(|operation| streams(operation, seed, session));
        let most = script.operations.iter().map(|operation| operation.draws.len()).max();
        Self { streams: streams.collect(), drawn: Vec::with_capacity(most.unwrap_or(0)) }
    }

    /// New values for an operation, in the order of its draws: of an operation with rows of values
    /// those of row `row`, or of one that is drawn.
    pub fn draw(&mut self, script: &Script, operation: u16, row: Option<u32>) {
        let operation = usize::from(operation);
        let asked = &script.operations[operation];
        if asked.fixed {
            self.streams[operation] = streams(asked, FIXED_SEED, FIXED_SESSION);
        }
        self.drawn.clear();
        if asked.joint {
            let rows =
                asked.draws.first().and_then(|draw| draw.choice.as_ref()).map_or(0, Vec::len);
            let index = match (row, self.streams[operation].first_mut()) {
                (Some(row), _) => (row as usize).min(rows.saturating_sub(1)),
                (None, Some(stream)) => below(stream.next_u64(), rows as u128) as usize,
                (None, None) => 0,
            };
            self.drawn.extend(asked.draws.iter().map(|_| Drawn::Choice(index)));
            return;
        }
        for (draw, stream) in
            script.operations[operation].draws.iter().zip(&mut self.streams[operation])
        {
            let random = stream.next_u64();
            self.drawn.push(match (&draw.integer, &draw.choice) {
                (Some([low, high]), _) => Drawn::Integer(between(random, *low, *high)),
                (None, Some(choice)) => Drawn::Choice(below(random, choice.len() as u128) as usize),
                (None, None) => unreachable!("scripts are validated before sessions are opened"),
            });
        }
    }

    /// The values that `draw` made last.
    pub fn values(&self) -> &[Drawn] {
        &self.drawn
    }
}

/// A stream for each value of an operation.
fn streams(operation: &ScriptOperation, seed: u64, session: u32) -> Vec<SplitMix> {
    let stream = |draw: &Draw| {
        let path = format!("{session}/{}/{}", operation.name, draw.name);
        SplitMix::new(xxh3_64_with_seed(path.as_bytes(), seed))
    };
    operation.draws.iter().map(stream).collect()
}

/// A number below `span` (Lemire's multiplication; its bias is below 2^-32 for spans below 2^32).
const fn below(random: u64, span: u128) -> u64 {
    ((random as u128 * span) >> 64) as u64
}

fn between(random: u64, low: i64, high: i64) -> i64 {
    let span = (i128::from(high) - i128::from(low) + 1) as u128;
    low.wrapping_add(below(random, span) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> Script {
        serde_json::from_str(
            r#"{"operations": [{"name": "a", "statements": [{"text": "commit"}], "draws": [
                {"name": "n", "integer": [1, 3]}, {"name": "c", "choice": ["x", "y"]}]}]}"#,
        )
        .unwrap()
    }

    fn drawn(seed: u64, session: u32) -> Vec<Drawn> {
        let script = script();
        let mut drawer = Drawer::new(&script, seed, session);
        (0..600)
            .flat_map(|_| {
                drawer.draw(&script, 0, None);
                drawer.values().to_vec()
            })
            .collect()
    }

    #[test]
    fn every_value_of_the_range_comes_about_equally_often() {
        let drawn = drawn(1, 0);
        let count = |value| drawn.iter().filter(|other| **other == value).count();
        for number in 1..=3 {
            assert!((150..250).contains(&count(Drawn::Integer(number))), "{number}");
        }
        assert!((250..350).contains(&count(Drawn::Choice(0))));
        assert_eq!(count(Drawn::Integer(0)) + count(Drawn::Integer(4)), 0);
    }

    #[test]
    fn values_follow_seed_and_session() {
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0), drawn(2, 0));
        assert_ne!(drawn(1, 0), drawn(1, 1));
    }

    #[test]
    fn fixed_values_follow_neither_seed_nor_session() {
        let mut script = script();
        script.operations[0].fixed = true;
        let drawn = |seed, session| {
            let mut drawer = Drawer::new(&script, seed, session);
            [(); 3].map(|()| {
                drawer.draw(&script, 0, None);
                drawer.values().to_vec()
            })
        };
        let first = drawn(1, 0);
        assert_eq!(first, drawn(2, 5));
        assert_eq!(first[0], first[2]);
    }

    #[test]
    fn the_whole_range_of_numbers_can_be_drawn() {
        assert_eq!(between(0, i64::MIN, i64::MAX), i64::MIN);
        assert_eq!(between(u64::MAX, i64::MIN, i64::MAX), i64::MAX);
    }
}
