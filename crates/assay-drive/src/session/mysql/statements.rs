//! Statements as MySQL takes them: `?` where a value goes, in the order in which they stand; and
//! their values in binary.

use assay_model::civil::civil_from_days;
use assay_model::{Script, ScriptStatement};

use super::packets::{number, sized};
use crate::conductor::Conductor;
use crate::session::value::{Bound, write_decimal};

const DECIMAL: u8 = 246;
const WHOLE: u8 = 8;
const TEXT: u8 = 253;
const DATETIME: u8 = 12;
const MICROS_A_DAY: i64 = 86_400_000_000;
/// Digits of the largest coefficient of a decimal, its sign and its point.
const DECIMAL_BYTES: usize = 24;

/// A statement that a connection's server has prepared.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// Its number there.
    pub id: u32,
    /// How many values it takes.
    pub takes: u16,
    /// The types of the values that were bound last: the server remembers them.
    types: Vec<u8>,
}

impl Prepared {
    /// A statement that was not executed yet.
    pub const fn new(id: u32, takes: u16) -> Self {
        Self { id, takes, types: Vec::new() }
    }

    /// Writes what is bound: which values are absent, the types if they are others than before,
    /// and the values. The error is words.
    pub fn bind(&mut self, conductor: &Conductor, out: &mut Vec<u8>) -> Result<(), String> {
        let count = conductor.values().len();
        if count != usize::from(self.takes) {
            return Err(format!(
                "the statement takes {} values, and {count} are drawn for it",
                self.takes
            ));
        }
        if count == 0 {
            return Ok(());
        }
        let begin = out.len();
        if !self.types.is_empty() {
            out.resize(begin + count.div_ceil(8) + 1, 0);
            if self.write(conductor, begin, out) {
                return Ok(());
            }
            out.truncate(begin);
        }
        self.types.resize(count, TEXT);
        for (bound_type, value) in self.types.iter_mut().zip(conductor.values()) {
            *bound_type = type_of(value).unwrap_or(*bound_type);
        }
        out.resize(begin + count.div_ceil(8), 0);
        out.push(1);
        self.types.iter().for_each(|bound_type| out.extend_from_slice(&[*bound_type, 0]));
        self.write(conductor, begin, out);
        Ok(())
    }

    /// The server may not have taken the types that were sent.
    pub fn forget_types(&mut self) {
        self.types.clear();
    }

    /// Writes values as long as their types are those that are known.
    fn write(&self, conductor: &Conductor, bitmap: usize, out: &mut Vec<u8>) -> bool {
        for (place, (value, bound_type)) in conductor.values().zip(&self.types).enumerate() {
            match type_of(value) {
                None => out[bitmap + place / 8] |= 1 << (place % 8),
                Some(wanted) if wanted == *bound_type => write_value(value, out),
                Some(_) => return false,
            }
        }
        true
    }
}

const fn type_of(value: Bound<'_>) -> Option<u8> {
    match value {
        Bound::Null => None,
        Bound::Integer(_) => Some(WHOLE),
        Bound::Decimal(..) => Some(DECIMAL),
        Bound::Text(_) => Some(TEXT),
        Bound::Timestamp(_) => Some(DATETIME),
    }
}

fn write_value(value: Bound<'_>, out: &mut Vec<u8>) {
    match value {
        Bound::Null => {}
        Bound::Integer(whole) => out.extend_from_slice(&whole.to_le_bytes()),
        Bound::Text(text) => sized(out, text.as_bytes()),
        Bound::Decimal(coefficient, scale) => {
            let mut digits = Vec::with_capacity(DECIMAL_BYTES);
            write_decimal(coefficient.into(), scale.into(), &mut digits);
            sized(out, &digits);
        }
        Bound::Timestamp(micros) => {
            let (year, month, day) = civil_from_days(micros.div_euclid(MICROS_A_DAY));
            let rest = micros.rem_euclid(MICROS_A_DAY);
            let (seconds, behind) = (rest / 1_000_000, (rest % 1_000_000) as u32);
            number(out, if behind > 0 { 11 } else { 7 });
            out.extend_from_slice(&(year as u16).to_le_bytes());
            out.extend_from_slice(&[month, day]);
            out.extend_from_slice(&[
                (seconds / 3600) as u8,
                (seconds / 60 % 60) as u8,
                (seconds % 60) as u8,
            ]);
            if behind > 0 {
                out.extend_from_slice(&behind.to_le_bytes());
            }
        }
    }
}

/// The script with `?` in place of `$1`, `$2`, ...: values stand in the order of their places, and
/// one that is used twice stands twice.
pub fn with_places(script: &Script) -> Script {
    let mut script = script.clone();
    for statement in script.operations.iter_mut().flat_map(|asked| &mut asked.statements) {
        let (text, order) = marked(&statement.text);
        let ScriptStatement { values, .. } = statement;
        let placed = order.iter().map(|place| values.get(*place).copied());
        // A place without a value stays as it is, and the server says what it thinks of it.
        if let Some(placed) = placed.collect::<Option<Vec<u16>>>() {
            statement.values = placed;
            statement.text = text;
        }
    }
    script
}

/// A statement with `?` for each `$1`, `$2`, ..., and which value goes where, from 0. Texts, quoted
/// names and comments stay as they are.
pub fn marked(text: &str) -> (String, Vec<usize>) {
    let (mut made, mut order, mut rest) = (String::with_capacity(text.len()), Vec::new(), text);
    while let Some(letter) = rest.chars().next() {
        let taken = match letter {
            '\'' | '"' => quoted(rest, letter, true),
            '`' => quoted(rest, letter, false),
            '#' => line(rest),
            '-' if is_comment(rest) => line(rest),
            // What stands behind /*! is executed.
            '/' if rest.starts_with("/*") && !rest.starts_with("/*!") => {
                rest.find("*/").map_or(rest.len(), |at| at + 2)
            }
            '$' => {
                let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                let number = rest[1..=digits].parse::<usize>().ok();
                if let Some(place) = number.and_then(|number| number.checked_sub(1)) {
                    order.push(place);
                    made.push('?');
                    rest = &rest[1 + digits..];
                    continue;
                }
                1
            }
            letter => letter.len_utf8(),
        };
        made.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    (made, order)
}

/// Bytes of a text or name in quotes, which are doubled, or escaped by a backslash, within.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && escapes {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + letter.len_utf8();
        }
    }
    text.len()
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Two dashes begin a comment only before white space.
fn is_comment(text: &str) -> bool {
    let behind = text.strip_prefix("--").map(|behind| behind.chars().next());
    behind.is_some_and(|next| next.is_none_or(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(text: &str) -> (String, Vec<usize>) {
        marked(text)
    }

    #[test]
    fn values_stand_in_the_order_of_their_places() {
        let (text, order) = place("do $2, $1 where a = $2 limit $10");
        assert_eq!(text, "do ?, ? where a = ? limit ?");
        assert_eq!(order, [1, 0, 1, 9]);
    }

    #[test]
    fn what_is_quoted_or_a_comment_stays() {
        for text in [
            "do '$1', \"$1\", `$1`",
            "do 'it''s $1', 'a\\'$1'",
            "do 1 -- $1",
            "do 1 # $1",
            "do /* $1 */ 1",
            "do '$1",
            "do $0, $x, $",
        ] {
            assert_eq!(place(text), (text.to_owned(), vec![]));
        }
        assert_eq!(place("do 5--$1").0, "do 5--?");
        assert_eq!(place("do /*! $1 */ 1").0, "do /*! ? */ 1");
        assert_eq!(place("-- x\n$1").0, "-- x\n?");
    }

    #[test]
    fn a_value_that_is_used_twice_is_bound_twice() {
        let script: Script = serde_json::from_str(
            r#"{"operations": [{"name": "a", "draws": [{"name": "x", "integer": [1, 2]},
                {"name": "y", "integer": [1, 2]}],
                "statements": [{"text": "do $2, $1, $2", "values": [1, 0]}]}]}"#,
        )
        .unwrap();
        let placed = with_places(&script);
        let statement = &placed.operations[0].statements[0];
        assert_eq!((statement.text.as_str(), &statement.values), ("do ?, ?, ?", &vec![0, 1, 0]));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,80}") {
            let (made, order) = marked(&text);
            prop_assert_eq!(made.matches('?').count(), text.matches('?').count() + order.len());
        }
    }
}
