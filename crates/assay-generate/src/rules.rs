//! Parameter rules as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Lists and tables that rules refer to by name.
pub type Lists = BTreeMap<String, Value>;

/// The rules of one operation with the parameters' names, in the order in which they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(pub Vec<(String, Rule)>);

/// How one parameter gets its value. One of the forms is set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Value of the validation run.
    pub default: Option<Value>,
    /// A whole number from the first to the second, both included.
    pub integer: Option<[i64; 2]>,
    /// One of a list, which is given or named.
    pub choice: Option<Value>,
    /// Draw this many different values instead of one.
    pub distinct: Option<usize>,
    /// The different values are the first of all, shuffled.
    #[serde(default)]
    pub shuffled: bool,
    /// First day of a month, from the first to the second.
    pub month: Option<[String; 2]>,
    /// First day of a year, from the first to the second.
    pub year: Option<[i64; 2]>,
    /// A day, from the first to the second.
    pub day: Option<[String; 2]>,
    /// A decimal, from the first to the second in steps of the last digit.
    pub decimal: Option<[String; 2]>,
    /// One word of each list, joined.
    pub words: Option<Vec<Value>>,
    /// One word of each list, joined; one draw says which of all combinations.
    pub combination: Option<Vec<Value>>,
    /// Which words of the combination remain, counted from 0; all unless given.
    pub keep: Option<Vec<usize>>,
    /// What joins the words; a space unless given.
    pub separator: Option<String>,
    /// This number divided by the scale.
    pub per_scale: Option<f64>,
    /// Looks the value of another parameter up in a table.
    pub follows: Option<String>,
    /// The table to look it up in.
    pub map: Option<String>,
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads a map and keeps the order of its keys.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Rules;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a rule for each parameter")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Rules, M::Error> {
        let mut rules = Vec::new();
        while let Some(entry) = map.next_entry()? {
            rules.push(entry);
        }
        Ok(Rules(rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_keep_their_order() {
        let text = r#"{"z": {"default": 1}, "a": {"default": 2}, "m": {"default": 3}}"#;
        let rules: Rules = serde_json::from_str(text).unwrap();
        let names: Vec<&str> = rules.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }
}
