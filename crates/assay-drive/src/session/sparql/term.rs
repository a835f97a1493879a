//! One value of an answer: an IRI, a literal or a blank node, and what it is as a value of a row.
//!
//! Engines write numbers and times differently, so those are compared by value. The label of a
//! blank node means nothing outside of its answer: all of them count as the same one.

use std::borrow::Cow;

use crate::session::value::{Shape, Value, exact, write_decimal};
use assay_model::civil::days_from_civil;

/// Beginning of the names of XML Schema's types.
const XSD: &[u8] = b"http://www.w3.org/2001/XMLSchema#";
const DAY_MICROS: i64 = 86_400_000_000;
/// What stands for any blank node.
const BLANK: &[u8] = b"_:";

/// Text as it stands in an answer, or without its escapes.
pub type Text<'a> = Cow<'a, [u8]>;

/// What a literal is beside its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of<'a> {
    /// A text.
    Plain,
    /// A text in a language.
    Language(Text<'a>),
    /// A value of a type, which an IRI names.
    Datatype(Text<'a>),
}

/// One value of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term<'a> {
    /// The variable has none.
    Unbound,
    /// An IRI.
    Iri(Text<'a>),
    /// A blank node, whatever its label.
    Blank,
    /// A literal.
    Literal(Text<'a>, Of<'a>),
}

impl<'a> Term<'a> {
    /// A literal of a type; a text where the type is that of texts.
    pub fn typed(text: Text<'a>, datatype: Text<'a>) -> Self {
        let plain = datatype.strip_prefix(XSD) == Some(b"string");
        Self::Literal(text, if plain { Of::Plain } else { Of::Datatype(datatype) })
    }

    /// A truth value.
    pub const fn boolean(value: bool) -> Self {
        let text: &[u8] = if value { b"true" } else { b"false" };
        Self::Literal(
            Cow::Borrowed(text),
            Of::Datatype(Cow::Borrowed(b"http://www.w3.org/2001/XMLSchema#boolean")),
        )
    }

    /// The value as a program reads it: of an IRI its text, of a literal what its type makes of it.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Unbound => Value::Null,
            Self::Iri(iri) => Value::Text(iri),
            Self::Blank => Value::Text(BLANK),
            Self::Literal(text, Of::Datatype(datatype)) => {
                typed_value(text, datatype).unwrap_or(Value::Text(text))
            }
            Self::Literal(text, _) => Value::Text(text),
        }
    }

    /// The value as it is compared and kept: numbers, truth values and times of no zone by value;
    /// all else as it is written in N-Triples, in `scratch`.
    pub fn kept<'s>(&self, scratch: &'s mut Vec<u8>) -> Value<'s> {
        self.by_value().unwrap_or_else(|| {
            scratch.clear();
            self.write(scratch);
            Value::Text(scratch)
        })
    }

    /// What the value is kept as; `None`: it is none.
    pub fn shape(&self) -> Option<Shape> {
        match self.by_value() {
            Some(Value::Null) => None,
            Some(Value::Bool(_)) => Some(Shape::Bool),
            Some(Value::Exact(..)) => Some(Shape::Number),
            Some(Value::Float(_)) => Some(Shape::Float),
            Some(Value::Date(_)) => Some(Shape::Date),
            Some(Value::Timestamp(_)) => Some(Shape::Timestamp),
            _ => Some(Shape::Text),
        }
    }

    fn by_value(&self) -> Option<Value<'static>> {
        match self {
            Self::Unbound => Some(Value::Null),
            Self::Literal(text, Of::Datatype(datatype)) => typed_value(text, datatype),
            _ => None,
        }
    }

    /// Writes the term as N-Triples have it, numbers and truth values as Turtle has them. Exact
    /// numbers are in their shortest form.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unbound => {}
            Self::Blank => out.extend_from_slice(BLANK),
            Self::Iri(iri) => write_iri(iri, out),
            Self::Literal(text, of) => self.write_literal(text, of, out),
        }
    }

    fn write_literal(&self, text: &[u8], of: &Of<'_>, out: &mut Vec<u8>) {
        match self.by_value() {
            Some(Value::Bool(value)) => {
                return out.extend_from_slice(if value { b"true" } else { b"false" });
            }
            Some(Value::Exact(coefficient, scale)) => {
                return write_decimal(coefficient, scale as usize, out);
            }
            _ => {}
        }
        out.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                byte => out.push(*byte),
            }
        }
        out.push(b'"');
        match of {
            Of::Plain => {}
            Of::Language(tag) => {
                // Tags are the same however they are written.
                out.push(b'@');
                out.extend(tag.iter().map(u8::to_ascii_lowercase));
            }
            Of::Datatype(datatype) => {
                out.extend_from_slice(b"^^");
                write_iri(datatype, out);
            }
        }
    }
}

fn write_iri(iri: &[u8], out: &mut Vec<u8>) {
    out.push(b'<');
    out.extend_from_slice(iri);
    out.push(b'>');
}

/// An exact number in its shortest form.
fn shortest(value: Value<'_>) -> Option<Value<'static>> {
    let Value::Exact(mut coefficient, mut scale) = value else { return None };
    while scale > 0 && coefficient % 10 == 0 {
        coefficient /= 10;
        scale -= 1;
    }
    Some(Value::Exact(coefficient, scale))
}

/// The value of a literal whose type is a number, a truth value, a date or a time of no zone;
/// `None`: the type is another one, or the text is none of its values.
fn typed_value(text: &[u8], datatype: &[u8]) -> Option<Value<'static>> {
    match datatype.strip_prefix(XSD)? {
        b"integer"
        | b"int"
        | b"long"
        | b"short"
        | b"byte"
        | b"decimal"
        | b"nonNegativeInteger"
        | b"positiveInteger"
        | b"nonPositiveInteger"
        | b"negativeInteger"
        | b"unsignedInt"
        | b"unsignedLong"
        | b"unsignedShort"
        | b"unsignedByte" => {
            let digits = text.strip_prefix(b"+").unwrap_or(text);
            exact(digits).and_then(shortest)
        }
        b"double" | b"float" => float(text).map(Value::Float),
        b"boolean" => match text {
            b"true" | b"1" => Some(Value::Bool(true)),
            b"false" | b"0" => Some(Value::Bool(false)),
            _ => None,
        },
        b"date" => date(text).map(Value::Date),
        b"dateTime" => timestamp(text).map(Value::Timestamp),
        _ => None,
    }
}

fn float(text: &[u8]) -> Option<f64> {
    match text {
        b"INF" | b"+INF" => Some(f64::INFINITY),
        b"-INF" => Some(f64::NEG_INFINITY),
        b"NaN" => Some(f64::NAN),
        digits if digits.iter().all(|byte| b"+-.0123456789eE".contains(byte)) => {
            std::str::from_utf8(digits).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
fn date(text: &[u8]) -> Option<i32> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let (year, month) = (number(&[*y1, *y2, *y3, *y4])?, number(&[*m1, *m2])?);
    let day = number(&[*d1, *d2])?;
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then(|| days_from_civil(year.into(), month.into(), day.into()) as i32)
}

/// Microseconds since 1970-01-01 of `YYYY-MM-DDThh:mm:ss`, with up to six digits of a fraction.
fn timestamp(text: &[u8]) -> Option<i64> {
    let (day, clock) = text.split_at_checked(10)?;
    let (clock, fraction) = clock.split_at_checked(9)?;
    let [b'T', h1, h2, b':', m1, m2, b':', s1, s2] = clock else { return None };
    let (hour, minute) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
    let second = number(&[*s1, *s2])?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let micros = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
            number(digits)? * 10_i32.pow(6 - digits.len() as u32)
        }
        _ => return None,
    };
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    Some(i64::from(date(day)?) * DAY_MICROS + seconds * 1_000_000 + i64::from(micros))
}

fn number(digits: &[u8]) -> Option<i32> {
    digits
        .iter()
        .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed<'a>(text: &'a str, name: &str) -> Term<'a> {
        let datatype = [XSD, name.as_bytes()].concat();
        Term::typed(Cow::Borrowed(text.as_bytes()), Cow::Owned(datatype))
    }

    fn written(term: &Term<'_>) -> String {
        let mut out = Vec::new();
        term.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn kept(term: &Term<'_>) -> String {
        format!("{:?}", term.kept(&mut Vec::new()))
    }

    #[test]
    fn numbers_and_times_are_their_values() {
        assert_eq!(typed("+1.50", "decimal").value(), Value::Exact(15, 1));
        assert_eq!(written(&typed("1.50", "decimal")), "1.5");
        assert_eq!(written(&typed("100", "integer")), "100");
        assert_eq!(typed("1E2", "double").value(), Value::Float(100.0));
        assert_eq!(typed("-INF", "float").value(), Value::Float(f64::NEG_INFINITY));
        assert_eq!(typed("1", "boolean").value(), Value::Bool(true));
        assert_eq!(typed("1970-01-02", "date").value(), Value::Date(1));
        let moment = typed("1970-01-01T00:00:01.5", "dateTime");
        assert_eq!(moment.value(), Value::Timestamp(1_500_000));
        assert_eq!(moment.shape(), Some(Shape::Timestamp));
    }

    #[test]
    fn what_is_no_value_of_its_type_is_text() {
        for (text, name) in [
            ("", "integer"),
            ("1e3", "decimal"),
            ("inf", "double"),
            ("0x10", "double"),
            ("2008-13-01", "date"),
            ("2008-01-01Z", "date"),
            ("2008-01-01T25:00:00", "dateTime"),
            ("2008-01-01T00:00:00Z", "dateTime"),
            ("2008-01-01T00:00:00.", "dateTime"),
            ("10:00:00", "time"),
        ] {
            let term = typed(text, name);
            assert_eq!(term.value(), Value::Text(text.as_bytes()), "{text} {name}");
            assert_eq!(term.shape(), Some(Shape::Text));
            assert_eq!(
                written(&term),
                format!("\"{text}\"^^<http://www.w3.org/2001/XMLSchema#{name}>")
            );
        }
    }

    #[test]
    fn what_differs_is_kept_differently() {
        let text = |text: &'static str| Term::Literal(Cow::Borrowed(text.as_bytes()), Of::Plain);
        let iri = Term::Iri(Cow::Borrowed(b"a"));
        let english = Term::Literal(Cow::Borrowed(b"a"), Of::Language(Cow::Borrowed(b"EN")));
        let tricky = text("a\"@en");
        assert_eq!(written(&text("a")), "\"a\"");
        assert_eq!(written(&iri), "<a>");
        assert_eq!(written(&english), "\"a\"@en");
        assert_eq!(written(&tricky), "\"a\\\"@en\"");
        assert_eq!(typed("a", "string"), text("a"));
        let all = [text("a"), iri, english, tricky, Term::Blank, Term::Unbound];
        let kept: std::collections::BTreeSet<String> = all.iter().map(kept).collect();
        assert_eq!(kept.len(), all.len());
    }
}
