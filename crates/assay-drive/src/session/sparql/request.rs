//! The text of a request: what kind it is of, and where values are written into it, because the
//! protocol binds none.
//!
//! A value stands as `${1}`, `${2}`, ... Within `<...>` it is written as a part of an IRI, within
//! quotes as a part of a text, and elsewhere as it is, such as a number.

use crate::session::value::{Bound, write_decimal};
use assay_model::civil::civil_from_days;

const DAY_MICROS: i64 = 86_400_000_000;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rows.
    Select,
    /// A truth value.
    Ask,
    /// A graph: `construct` and `describe`.
    Graph,
    /// A change.
    Update,
}

/// What stands around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Iri,
    Quotes,
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The value of a place, counted from 0.
    Value(usize, Around),
}

/// A request's text, in pieces between its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it asks for.
    pub kind: Kind,
    pieces: Vec<Piece>,
}

/// A value that cannot be written where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// Its place, counted from 0.
    pub place: usize,
    /// Why.
    pub reason: &'static str,
}

impl Request {
    /// Reads a text, once for all its executions.
    pub fn read(text: &str) -> Self {
        Self { kind: kind(text), pieces: pieces(text) }
    }

    /// Appends the text with these values.
    pub fn write<'v>(
        &self,
        value: impl Fn(usize) -> Option<Bound<'v>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value(place, around) => {
                    let unwritable = |reason| Unwritable { place: *place, reason };
                    let value = value(*place).ok_or_else(|| unwritable("it is not there"))?;
                    write(value, *around, out).map_err(unwritable)?;
                }
            }
        }
        Ok(())
    }
}

fn write(value: Bound<'_>, around: Around, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match (value, around) {
        (Bound::Null, Around::Nothing) => out.extend_from_slice(b"UNDEF"),
        (Bound::Null, _) => return Err("it is absent, and something stands around it"),
        (Bound::Integer(number), _) => {
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        (Bound::Decimal(coefficient, scale), _) => {
            write_decimal(coefficient.into(), scale.into(), out);
        }
        (Bound::Text(text), Around::Iri) => return write_iri(text, out),
        (Bound::Text(text), Around::Quotes) => write_quoted(text, out),
        (Bound::Text(text), Around::Nothing) => out.extend_from_slice(text.as_bytes()),
        (Bound::Timestamp(_), Around::Iri) => return Err("a time is no part of an IRI"),
        (Bound::Timestamp(micros), Around::Quotes) => write_timestamp(micros, out),
        (Bound::Timestamp(micros), Around::Nothing) => {
            out.push(b'"');
            write_timestamp(micros, out);
            out.extend_from_slice(b"\"^^<http://www.w3.org/2001/XMLSchema#dateTime>");
        }
    }
    Ok(())
}

fn write_iri(text: &str, out: &mut Vec<u8>) -> Result<(), &'static str> {
    if !text.bytes().all(is_of_iri) {
        return Err("an IRI has no blanks, and none of <>\"{}|^`\\");
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

const fn is_of_iri(byte: u8) -> bool {
    !matches!(byte, 0..=0x20 | b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\')
}

fn write_quoted(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            byte => out.push(byte),
        }
    }
}

/// `YYYY-MM-DDThh:mm:ss`, with a fraction where there is one.
fn write_timestamp(micros: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(micros.div_euclid(DAY_MICROS));
    let of_day = micros.rem_euclid(DAY_MICROS);
    let (seconds, fraction) = (of_day / 1_000_000, of_day % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    out.extend_from_slice(text.as_bytes());
    if fraction > 0 {
        out.extend_from_slice(format!(".{fraction:06}").trim_end_matches('0').as_bytes());
    }
}

/// What of a text comes next, as far as values care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// An IRI, with its brackets.
    Iri(&'a str),
    /// A text, with its quotes.
    Quoted(&'a str),
    /// Up to the end of its line.
    Comment(&'a str),
    /// A value's place, as it is written.
    Place(&'a str, usize),
    /// A word of letters, or one other character.
    Word(&'a str),
}

impl<'a> Token<'a> {
    const fn text(self) -> &'a str {
        match self {
            Self::Iri(text)
            | Self::Quoted(text)
            | Self::Comment(text)
            | Self::Word(text)
            | Self::Place(text, _) => text,
        }
    }
}

/// The token that a text which is not empty begins with.
fn token(text: &str) -> Token<'_> {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'<' => iri_end(text).map_or(Token::Word(&text[..1]), |end| Token::Iri(&text[..end])),
        b'"' | b'\'' => Token::Quoted(&text[..quoted_end(bytes)]),
        b'#' => {
            let end = text.find(['\n', '\r']).unwrap_or(text.len());
            Token::Comment(&text[..end])
        }
        b'$' if place(text).is_some() => {
            let (number, end) = place(text).unwrap_or_default();
            Token::Place(&text[..end], number)
        }
        byte if byte.is_ascii_alphabetic() => {
            let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            Token::Word(&text[..text.find(|c| !of_word(c)).unwrap_or(text.len())])
        }
        _ => Token::Word(&text[..text.chars().next().map_or(1, char::len_utf8)]),
    }
}

/// Where an IRI ends that a text begins with; `None`: `<` is an operator here.
fn iri_end(text: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        match *text.as_bytes().get(at)? {
            b'>' => return Some(at + 1),
            b'$' if place(&text[at..]).is_some() => at += place(&text[at..])?.1,
            byte if is_of_iri(byte) => at += 1,
            _ => return None,
        }
    }
}

/// Where a text ends that these bytes begin with; all of them, where it has no end.
fn quoted_end(bytes: &[u8]) -> usize {
    let quote = bytes[0];
    let long = bytes.starts_with(&[quote; 3]);
    let mut at = if long { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote && !long => return at + 1,
            byte if byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The number of the place that a text begins with, counted from 0, and where it ends.
fn place(text: &str) -> Option<(usize, usize)> {
    let (number, _) = text.strip_prefix("${")?.split_once('}')?;
    let counted: usize = number.parse().ok()?;
    Some((counted.checked_sub(1)?, number.len() + 3))
}

fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let token = token(rest);
        rest = &rest[token.text().len()..];
        match token {
            Token::Place(_, number) => pieces.push(Piece::Value(number, Around::Nothing)),
            Token::Iri(iri) => inner(iri, Around::Iri, &mut pieces),
            Token::Quoted(quoted) => inner(quoted, Around::Quotes, &mut pieces),
            Token::Comment(text) | Token::Word(text) => push(text, &mut pieces),
        }
    }
    pieces
}

/// The pieces of what stands within brackets or quotes.
fn inner(text: &str, around: Around, pieces: &mut Vec<Piece>) {
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, behind) = rest.split_at(at);
        push(before, pieces);
        if let Some((number, end)) = place(behind) {
            pieces.push(Piece::Value(number, around));
            rest = &behind[end..];
        } else {
            push(&behind[..2], pieces);
            rest = &behind[2..];
        }
    }
    push(rest, pieces);
}

fn push(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(Piece::Text(text.into())),
    }
}

/// What a text asks for: the first word behind its prologue says it.
fn kind(text: &str) -> Kind {
    let mut rest = text;
    while !rest.is_empty() {
        let token = token(rest);
        rest = &rest[token.text().len()..];
        let Token::Word(word) = token else { continue };
        match word.to_ascii_lowercase().as_str() {
            "select" => return Kind::Select,
            "ask" => return Kind::Ask,
            "construct" | "describe" => return Kind::Graph,
            // What they declare may be called as a request is.
            "prefix" => rest = rest.split_once(':').map_or("", |(_, behind)| behind),
            "base" => {}
            // Virtuoso's own: a name with a colon, and a value.
            "define" => {
                let name = rest.trim_start();
                let end = name.find(char::is_whitespace).unwrap_or(name.len());
                let value = name[end..].trim_start();
                let length = if value.is_empty() { 0 } else { self::token(value).text().len() };
                rest = &value[length..];
            }
            word if word.chars().all(char::is_alphabetic) => return Kind::Update,
            _ => {}
        }
    }
    Kind::Update
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str, values: &[Bound<'_>]) -> Result<String, &'static str> {
        let mut out = Vec::new();
        let value = |place: usize| values.get(place).copied();
        Request::read(text).write(value, &mut out).map_err(|unwritable| unwritable.reason)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_written_by_what_stands_around_them() {
        let text = "SELECT ?x { <http://x/P${1}> ?p \"a${2}b\"@en ; ?q '''${2}''' \
                    FILTER(?v < ${1} && ?w > ${3} || ?t = ${4}) } # ${1}";
        let values = [
            Bound::Integer(7),
            Bound::Text("\"q\\'\n"),
            Bound::Decimal(-150, 2),
            Bound::Timestamp(1_500_000),
        ];
        assert_eq!(
            written(text, &values).unwrap(),
            "SELECT ?x { <http://x/P7> ?p \"a\\\"q\\\\\\'\\nb\"@en ; ?q '''\\\"q\\\\\\'\\n''' \
             FILTER(?v < 7 && ?w > -1.50 || ?t = \
             \"1970-01-01T00:00:01.5\"^^<http://www.w3.org/2001/XMLSchema#dateTime>) } # ${1}"
        );
        assert_eq!(written("VALUES ?x { ${1} }", &[Bound::Null]).unwrap(), "VALUES ?x { UNDEF }");
        assert_eq!(written("${1}", &[Bound::Text("ex:a")]).unwrap(), "ex:a");
    }

    #[test]
    fn what_is_no_place_stays_as_it_is() {
        let text = "SELECT $x { ?s ?p \"${0} ${a} ${\" , <a${x> FILTER(?a<${1}) }";
        let expected = text.replace("${1}", "1");
        assert_eq!(written(text, &[Bound::Integer(1)]).unwrap(), expected);
    }

    #[test]
    fn what_would_end_an_iri_is_refused() {
        for text in ["a> ?p ?o } #", "a b", "a\"", "{", "\\u003e", "a\n"] {
            let message = written("DESCRIBE <${1}>", &[Bound::Text(text)]).unwrap_err();
            assert!(message.contains("no blanks"), "{text}");
        }
        let iri = "http://x/\u{e9}?a=b&c#d";
        assert_eq!(written("<${1}>", &[Bound::Text(iri)]).unwrap(), format!("<{iri}>"));
        assert!(written("<${1}>", &[Bound::Timestamp(0)]).is_err());
        assert!(written("'${1}'", &[Bound::Null]).is_err());
        assert_eq!(written("${2}", &[Bound::Null]).unwrap_err(), "it is not there");
    }

    #[test]
    fn the_first_word_says_what_is_asked_for() {
        for (text, wanted) in [
            ("select ?x {}", Kind::Select),
            ("# ask\nPREFIX select: <http://x#ask> PREFIX : <y>\nASK {}", Kind::Ask),
            ("BASE <http://select/> DESCRIBE <x>", Kind::Graph),
            ("define input:default-graph-uri <select> construct {} {}", Kind::Graph),
            ("define sql:big-data-const 0 select ?x {}", Kind::Select),
            ("PREFIX ask: <x> INSERT DATA { ask:a ask:b 'select' }", Kind::Update),
            ("WITH <g> DELETE { ?s ?p ?o } WHERE { SELECT ?s {} }", Kind::Update),
            ("", Kind::Update),
        ] {
            assert_eq!(kind(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_values_comes_back(text in "[ -~\n\u{e9}]{0,80}") {
            let plain = text.replace("${", "$ {");
            prop_assert_eq!(written(&plain, &[]).unwrap(), plain);
        }

        #[test]
        fn a_quoted_value_never_ends_its_quotes(value in any::<String>()) {
            let text = written("'${1}'", &[Bound::Text(&value)]).unwrap();
            prop_assert_eq!(quoted_end(text.as_bytes()), text.len());
            let long = written("\"\"\"${1}\"\"\"", &[Bound::Text(&value)]).unwrap();
            prop_assert_eq!(quoted_end(long.as_bytes()), long.len());
        }
    }
}
