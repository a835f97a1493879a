//! Substitution parameters: values that rules say, drawn from seeded numbers.
//!
//! Named numbers depend on the seed, the stream, the operation and the parameter's name, and on
//! nothing else: adding an operation changes no other operation's values. The numbers of a sequence
//! depend on seed and stream, and on which of the operation's parameters stand before.

use std::collections::BTreeMap;

use assay_model::civil::{civil_from_days, days_from_civil};
use serde_json::Value;

use crate::random::{MinimalStandard, Random};
pub use crate::rules::{Lists, Rule, Rules};

/// As many values as can be shuffled.
const SHUFFLED_MAX: usize = 1_000_000;

/// A rule or template that cannot be carried out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("parameter {name}: {reason}")]
pub struct ParameterError {
    /// Which parameter.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

fn wrong<T>(name: &str, reason: impl Into<String>) -> Result<T, ParameterError> {
    Err(ParameterError { name: name.into(), reason: reason.into() })
}

/// Where values come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The values of the validation run.
    Default,
    /// Drawn from a seed, for a stream of operations.
    Drawn {
        /// Seed of the run.
        seed: u64,
        /// Number of the stream.
        stream: u64,
        /// Number, from 1, of the operation's sequence; numbers are named where it has none.
        sequence: Option<u32>,
    },
}

/// Values of all parameters of one operation, as text to be put into its template; a parameter
/// with several values has several texts.
pub fn values(
    operation: &str,
    rules: &Rules,
    lists: &Lists,
    scale: f64,
    source: Source,
) -> Result<BTreeMap<String, Vec<String>>, ParameterError> {
    let mut values = BTreeMap::new();
    let (followers, leaders): (Vec<_>, Vec<_>) =
        rules.0.iter().partition(|(_, rule)| rule.follows.is_some());
    let mut in_sequence = sequence(source)?;
    for (name, rule) in leaders {
        let drawer = Drawer { name, rule, lists, scale };
        let value = match (source, &mut in_sequence) {
            (Source::Default, _) => drawer.default()?,
            (Source::Drawn { .. }, Some(random)) => drawer.drawn(random)?,
            (Source::Drawn { seed, stream, .. }, None) => {
                drawer.drawn(&mut Random::named(seed, stream, operation, name))?
            }
        };
        values.insert(name.clone(), value);
    }
    for (name, rule) in followers {
        let value = follow(name, rule, lists, &values)?;
        values.insert(name.clone(), vec![value]);
    }
    Ok(values)
}

/// The sequence from which all parameters take their numbers, if they have one.
fn sequence(source: Source) -> Result<Option<Random>, ParameterError> {
    let Source::Drawn { seed, stream, sequence: Some(number) } = source else {
        return Ok(None);
    };
    match MinimalStandard::sequence(seed.wrapping_add(stream), number) {
        Some(random) => Ok(Some(Random::Sequence(random))),
        None => wrong("seed", format!("{seed} gives stream {stream} no numbers; use another one")),
    }
}

fn follow(
    name: &str,
    rule: &Rule,
    lists: &Lists,
    values: &BTreeMap<String, Vec<String>>,
) -> Result<String, ParameterError> {
    let leader = rule.follows.as_deref().and_then(|leader| values.get(leader)?.first());
    let table = rule.map.as_deref().and_then(|map| lists.get(map));
    match leader.zip(table).and_then(|(leader, table)| table.get(leader)) {
        Some(value) => Ok(text(value)),
        None => wrong(name, "follows a parameter or uses a map that is not there"),
    }
}

/// Puts values into a template: `${name}`, or `${name[0]}` where a parameter has several.
pub fn render(
    template: &str,
    values: &BTreeMap<String, Vec<String>>,
) -> Result<String, ParameterError> {
    let mut rendered = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((key, left)) = after.split_once('}') else {
            return wrong(after, "`${` is not closed by `}`");
        };
        let (name, index) = match key.split_once('[') {
            None => (key, 0),
            Some((name, index)) => match index.trim_end_matches(']').parse() {
                Ok(index) => (name, index),
                Err(_) => return wrong(name, format!("{index:?} is not the number of a value")),
            },
        };
        let Some(value) = values.get(name).and_then(|values| values.get(index)) else {
            return wrong(key, "the text asks for it, and no rule gives it");
        };
        rendered.push_str(before);
        rendered.push_str(value);
        rest = left;
    }
    rendered.push_str(rest);
    Ok(rendered)
}

struct Drawer<'a> {
    name: &'a str,
    rule: &'a Rule,
    lists: &'a Lists,
    scale: f64,
}

impl Drawer<'_> {
    fn default(&self) -> Result<Vec<String>, ParameterError> {
        match (&self.rule.default, self.rule.per_scale) {
            (Some(Value::Array(values)), _) => Ok(values.iter().map(text).collect()),
            (Some(value), _) => Ok(vec![text(value)]),
            (None, Some(number)) => Ok(vec![plain(number / self.scale)]),
            (None, None) => wrong(self.name, "has no default"),
        }
    }

    fn drawn(&self, random: &mut Random) -> Result<Vec<String>, ParameterError> {
        let Some(wanted) = self.rule.distinct else {
            return Ok(vec![self.one(random)?]);
        };
        let available = match (&self.rule.integer, &self.rule.choice) {
            (Some([low, high]), _) => usize::try_from(high - low + 1).unwrap_or(0),
            (None, Some(choice)) => self.list(choice)?.len(),
            (None, None) => return wrong(self.name, "`distinct` goes with integer or choice"),
        };
        if wanted > available {
            return wrong(self.name, format!("asks for {wanted} different values of {available}"));
        }
        if self.rule.shuffled {
            return self.shuffled(available, random).map(|all| all[..wanted].to_vec());
        }
        let mut values: Vec<String> = Vec::with_capacity(wanted);
        while values.len() < wanted {
            let value = self.one(random)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }

    /// All values in a random order.
    fn shuffled(&self, len: usize, random: &mut Random) -> Result<Vec<String>, ParameterError> {
        if len > SHUFFLED_MAX {
            return wrong(self.name, format!("{len} values are too many to shuffle"));
        }
        let mut values: Vec<String> = match (&self.rule.integer, &self.rule.choice) {
            (Some([low, high]), _) => (*low..=*high).map(|number| number.to_string()).collect(),
            (None, Some(choice)) => self.list(choice)?.iter().map(text).collect(),
            (None, None) => Vec::new(),
        };
        for place in 0..len {
            values.swap(place, random.between(place as i64, len as i64 - 1) as usize);
        }
        Ok(values)
    }

    /// One word of each list; the last list's word changes first.
    fn combination(&self, lists: &[Value], random: &mut Random) -> Result<String, ParameterError> {
        let lists: Vec<&Vec<Value>> =
            lists.iter().map(|list| self.list(list)).collect::<Result<_, _>>()?;
        let mut left = random.place(lists.iter().map(|list| list.len()).product());
        let mut words = vec![String::new(); lists.len()];
        for (word, list) in words.iter_mut().zip(lists).rev() {
            *word = text(&list[left % list.len()]);
            left /= list.len();
        }
        let kept = match &self.rule.keep {
            None => words,
            Some(kept) if kept.iter().all(|&place| place < words.len()) => {
                kept.iter().map(|&place| words[place].clone()).collect()
            }
            Some(kept) => {
                return wrong(self.name, format!("keep {kept:?} of {} words", words.len()));
            }
        };
        Ok(kept.join(self.separator()))
    }

    fn separator(&self) -> &str {
        self.rule.separator.as_deref().unwrap_or(" ")
    }

    fn one(&self, random: &mut Random) -> Result<String, ParameterError> {
        let rule = self.rule;
        if let Some([low, high]) = rule.integer {
            return Ok(self.between(random, low, high)?.to_string());
        }
        if let Some(choice) = &rule.choice {
            return self.word(choice, random);
        }
        if let Some([first, last]) = &rule.month {
            let month = self.between(random, self.month(first)?, self.month(last)?)?;
            return Ok(format!("{}-{:02}-01", month.div_euclid(12), month.rem_euclid(12) + 1));
        }
        if let Some([first, last]) = rule.year {
            return Ok(format!("{}-01-01", self.between(random, first, last)?));
        }
        if let Some([first, last]) = &rule.day {
            let day = self.between(random, self.day(first)?, self.day(last)?)?;
            return Ok(date(day));
        }
        if let Some([low, high]) = &rule.decimal {
            return self.decimal(low, high, random);
        }
        if let Some(lists) = &rule.words {
            let words: Result<Vec<String>, _> =
                lists.iter().map(|list| self.word(list, random)).collect();
            return Ok(words?.join(self.separator()));
        }
        if let Some(lists) = &rule.combination {
            return self.combination(lists, random);
        }
        match rule.per_scale {
            Some(number) => Ok(plain(number / self.scale)),
            None => wrong(self.name, "no rule says how it is drawn"),
        }
    }

    fn between(&self, random: &mut Random, low: i64, high: i64) -> Result<i64, ParameterError> {
        if low > high {
            return wrong(self.name, format!("its range from {low} to {high} is empty"));
        }
        Ok(random.between(low, high))
    }

    fn list<'a>(&'a self, list: &'a Value) -> Result<&'a Vec<Value>, ParameterError> {
        let values = match list {
            Value::String(name) => self.lists.get(name),
            given => Some(given),
        };
        match values {
            Some(Value::Array(values)) if !values.is_empty() => Ok(values),
            _ => wrong(self.name, format!("{list} is not a list with something in it")),
        }
    }

    fn word(&self, list: &Value, random: &mut Random) -> Result<String, ParameterError> {
        let words = self.list(list)?;
        Ok(text(&words[random.place(words.len())]))
    }

    fn decimal(
        &self,
        low: &str,
        high: &str,
        random: &mut Random,
    ) -> Result<String, ParameterError> {
        let places = low.split_once('.').map_or(0, |(_, digits)| digits.len());
        let steps =
            |number: &str| {
                number.replace('.', "").parse::<i64>().ok().filter(|_| {
                    number.split_once('.').map_or(0, |(_, digits)| digits.len()) == places
                })
            };
        let (Some(low), Some(high)) = (steps(low), steps(high)) else {
            return wrong(self.name, format!("{low} and {high} need as many decimals"));
        };
        let drawn = self.between(random, low, high)?;
        let digits = format!("{drawn:0width$}", width = places + 1);
        let (whole, decimals) = digits.split_at(digits.len() - places);
        Ok(if places == 0 { whole.into() } else { format!("{whole}.{decimals}") })
    }

    fn ymd(&self, date: &str) -> Result<(i64, i64, i64), ParameterError> {
        let numbers: Vec<i64> = date.splitn(3, '-').filter_map(|n| n.parse().ok()).collect();
        match numbers[..] {
            [year, month @ 1..=12, day @ 1..=31] => Ok((year, month, day)),
            _ => wrong(self.name, format!("{date:?} is not a date like 1995-03-01")),
        }
    }

    fn month(&self, date: &str) -> Result<i64, ParameterError> {
        self.ymd(date).map(|(year, month, _)| year * 12 + month - 1)
    }

    fn day(&self, date: &str) -> Result<i64, ParameterError> {
        self.ymd(date).map(|(year, month, day)| days_from_civil(year, month, day))
    }
}

/// The date that is `days` after 1970-01-01.
fn date(days: i64) -> String {
    let (year, month, day) = civil_from_days(days);
    format!("{year}-{month:02}-{day:02}")
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number without an exponent (some dialects would read it as binary floating point), to ten
/// decimals: a longer fraction times a sum of money does not fit the 38 digits of a decimal.
fn plain(number: f64) -> String {
    let fixed = format!("{number:.10}");
    fixed.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn rule(json: Value) -> Rule {
        serde_json::from_value(json).unwrap()
    }

    fn draw(json: Value, seed: u64) -> Result<Vec<String>, ParameterError> {
        let lists = Lists::from([
            ("colours".into(), json!(["red", "green", "blue"])),
            ("of".into(), json!({"red": "warm", "green": "cold", "blue": "cold"})),
        ]);
        let rules = Rules(vec![("p".into(), rule(json))]);
        let source = Source::Drawn { seed, stream: 0, sequence: None };
        values("q", &rules, &lists, 10.0, source).map(|mut values| values.remove("p").unwrap())
    }

    #[test]
    fn a_fraction_per_scale_has_no_exponent() {
        for (scale, expected) in
            [(1.0, "0.0001"), (0.01, "0.01"), (0.1, "0.001"), (100_000.0, "0.000000001")]
        {
            let rules = Rules(vec![("fraction".into(), rule(json!({"per_scale": 0.0001})))]);
            let drawn = values("q11", &rules, &Lists::new(), scale, Source::Default).unwrap();
            assert_eq!(drawn["fraction"], [expected]);
        }
    }

    #[test]
    fn a_template_takes_single_values_and_elements() {
        let values = BTreeMap::from([
            ("a".to_owned(), vec!["1".to_owned()]),
            ("b".to_owned(), vec!["x".to_owned(), "y".to_owned()]),
        ]);
        assert_eq!(render("${a} ${b[1]} $a {b}", &values).unwrap(), "1 y $a {b}");
        assert!(render("${c}", &values).unwrap_err().to_string().contains("no rule"));
        assert!(render("${a", &values).unwrap_err().to_string().contains("not closed"));
        assert!(render("${b[x]}", &values).unwrap_err().to_string().contains("number"));
    }

    #[test]
    fn a_follower_looks_its_leader_up() {
        let lists = Lists::from([("of".into(), json!({"red": "warm"}))]);
        let rules = Rules(vec![
            ("a_follower".into(), rule(json!({"follows": "z", "map": "of"}))),
            ("z".into(), rule(json!({"default": "red", "choice": ["red"]}))),
        ]);
        let values = values("q", &rules, &lists, 1.0, Source::Default).unwrap();
        assert_eq!(values["a_follower"], ["warm"]);
    }

    #[test]
    fn a_rule_that_cannot_be_drawn_says_why() {
        let reason = |json| draw(json, 1).unwrap_err().reason;
        assert!(reason(json!({"integer": [5, 4]})).contains("empty"));
        assert!(reason(json!({"choice": "tastes"})).contains("not a list"));
        assert!(
            reason(json!({"choice": "colours", "distinct": 4})).contains("4 different values of 3")
        );
        assert!(reason(json!({"default": 1})).contains("no rule"));
        assert!(reason(json!({"month": ["1995", "1996-01-01"]})).contains("not a date"));
    }

    /// All values of rules that share a sequence of numbers, one after another.
    fn draw_in_sequence(rules: &[(&str, Value)], seed: u64, stream: u64) -> Vec<Vec<String>> {
        let parsed =
            rules.iter().map(|(name, json)| ((*name).into(), rule(json.clone()))).collect();
        let source = Source::Drawn { seed, stream, sequence: Some(1) };
        let mut values = values("q", &Rules(parsed), &Lists::new(), 1.0, source).unwrap();
        rules.iter().map(|(name, _)| values.remove(*name).unwrap()).collect()
    }

    #[test]
    fn a_sequence_goes_on_from_one_parameter_to_the_next() {
        let number = json!({"integer": [1, 1_000_000]});
        let one = draw_in_sequence(&[("z", number.clone()), ("a", number.clone())], 7, 0);
        let other = draw_in_sequence(&[("a", number.clone()), ("z", number)], 7, 0);
        assert_eq!(one, other);
        assert_ne!(one[0], one[1]);
    }

    #[test]
    fn the_only_word_of_a_list_takes_no_number() {
        let digit = json!({"words": [["#"], ["1", "2", "3", "4", "5"]], "separator": ""});
        let number = json!({"integer": [1, 5]});
        for seed in 1..50 {
            let drawn = draw_in_sequence(&[("p", digit.clone())], seed, 0);
            let bare = draw_in_sequence(&[("p", number.clone())], seed, 0);
            assert_eq!(drawn[0][0], format!("#{}", bare[0][0]));
        }
    }

    #[test]
    fn a_stream_has_the_seed_that_is_higher_by_its_number() {
        let number = json!({"integer": [1, 1_000_000]});
        let drawn = |seed, stream| draw_in_sequence(&[("p", number.clone())], seed, stream);
        assert_eq!(drawn(40, 2), drawn(42, 0));
        assert_ne!(drawn(40, 2), drawn(40, 0));
    }

    #[test]
    fn one_draw_says_which_of_all_combinations() {
        let lists = json!([["a", "b"], ["x", "y", "z"]]);
        let places = json!({"integer": [0, 5]});
        for seed in 1..200 {
            let drawn = |json| draw_in_sequence(&[("p", json)], seed, 0).remove(0).remove(0);
            let place: usize = drawn(places.clone()).parse().unwrap();
            let both = ["a x", "a y", "a z", "b x", "b y", "b z"][place];
            assert_eq!(drawn(json!({"combination": lists})), both);
            assert_eq!(drawn(json!({"combination": lists, "keep": [1]})), both[2..]);
            let joined = drawn(json!({"combination": lists, "separator": "", "keep": [1, 0]}));
            assert_eq!(joined, format!("{}{}", &both[2..], &both[..1]));
        }
        let reason = draw(json!({"combination": lists, "keep": [2]}), 1).unwrap_err().reason;
        assert!(reason.contains("keep [2] of 2 words"));
    }

    #[test]
    fn what_is_shuffled_is_all_of_it() {
        let reason = |json| draw(json, 1).unwrap_err().reason;
        let mut all =
            draw(json!({"integer": [1, 50], "distinct": 50, "shuffled": true}), 3).unwrap();
        assert!(!all.is_sorted());
        all.sort_by_key(|number| number.parse::<i64>().unwrap());
        assert_eq!(all, (1..=50).map(|number| number.to_string()).collect::<Vec<_>>());
        let wide = json!({"integer": [1, 9_000_000], "distinct": 2, "shuffled": true});
        assert!(reason(wide).contains("too many to shuffle"));
    }

    proptest! {
        #[test]
        fn values_stay_in_range(seed in any::<u64>()) {
            let number: i64 = draw(json!({"integer": [60, 120]}), seed).unwrap()[0].parse().unwrap();
            prop_assert!((60..=120).contains(&number));
            let decimal = draw(json!({"decimal": ["0.02", "0.09"]}), seed).unwrap();
            prop_assert!(decimal[0].len() == 4 && ("0.02".."0.091").contains(&decimal[0].as_str()));
            let day = draw(json!({"day": ["1995-03-01", "1995-03-31"]}), seed).unwrap();
            prop_assert!(("1995-03-01"..="1995-03-31").contains(&day[0].as_str()));
            let month = draw(json!({"month": ["1993-01-01", "1997-10-01"]}), seed).unwrap();
            prop_assert!(("1993-01-01"..="1997-10-01").contains(&month[0].as_str()));
            prop_assert!(month[0].ends_with("-01"));
            let mut colours = draw(json!({"choice": "colours", "distinct": 3}), seed).unwrap();
            colours.sort();
            prop_assert_eq!(colours, ["blue", "green", "red"]);
        }

        #[test]
        fn a_date_comes_back(days in -700_000_i64..700_000) {
            let text = date(days);
            let parts: Vec<i64> = text.rsplitn(3, '-').map(|n| n.parse().unwrap()).collect();
            prop_assert_eq!(days_from_civil(parts[2], parts[1], parts[0]), days);
        }

        #[test]
        fn a_template_never_panics(template in ".{0,40}") {
            let _ = render(&template, &BTreeMap::new());
        }
    }
}
