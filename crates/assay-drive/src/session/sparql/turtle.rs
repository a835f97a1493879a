//! Terms as Turtle writes them, which TSV and N-Triples share.

use std::borrow::Cow;

use super::answer::wrong;
use super::term::{Of, Term, Text};

/// Takes the term off that the bytes begin with.
///
/// # Errors
/// If there is none; says where.
pub fn take<'a>(bytes: &mut &'a [u8]) -> Result<Term<'a>, String> {
    match bytes.first() {
        Some(b'<') if bytes.starts_with(b"<<") => {
            Err(wrong("a statement within a statement, which is not read here,", bytes))
        }
        Some(b'<') => Ok(Term::Iri(iri(bytes)?)),
        Some(b'"' | b'\'') => literal(bytes),
        Some(b'_') if bytes.starts_with(b"_:") => {
            let end = bytes[2..].iter().position(|byte| ends_label(*byte));
            let end = end.map_or(bytes.len(), |length| length + 2);
            *bytes = &bytes[end..];
            Ok(Term::Blank)
        }
        _ => bare(bytes),
    }
}

const fn ends_label(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'<' | b'"')
}

fn iri<'a>(bytes: &mut &'a [u8]) -> Result<Text<'a>, String> {
    let all = *bytes;
    let end = all.iter().position(|byte| *byte == b'>');
    let end = end.ok_or_else(|| wrong("an IRI without its end", all))?;
    *bytes = &all[end + 1..];
    unescaped(&all[1..end], false).ok_or_else(|| wrong("an escape that there is not", all))
}

fn literal<'a>(bytes: &mut &'a [u8]) -> Result<Term<'a>, String> {
    let (all, quote) = (*bytes, bytes[0]);
    let mut end = 1;
    loop {
        match all.get(end) {
            None => return Err(wrong("a text without its end", all)),
            Some(b'\\') => end += 2,
            Some(byte) if *byte == quote => break,
            Some(_) => end += 1,
        }
    }
    let text = unescaped(&all[1..end], true);
    let text = text.ok_or_else(|| wrong("an escape that there is not", all))?;
    *bytes = &all[end + 1..];
    if let Some(rest) = bytes.strip_prefix(b"^^") {
        *bytes = rest;
        if !rest.starts_with(b"<") {
            return Err(wrong("a type that is no IRI", all));
        }
        return Ok(Term::typed(text, iri(bytes)?));
    }
    if let Some(rest) = bytes.strip_prefix(b"@") {
        let tag = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
        let (tag, rest) = rest.split_at(tag.unwrap_or(rest.len()));
        if tag.is_empty() {
            return Err(wrong("a language without a name", all));
        }
        *bytes = rest;
        return Ok(Term::Literal(text, Of::Language(Cow::Borrowed(tag))));
    }
    Ok(Term::Literal(text, Of::Plain))
}

/// A number or a truth value, as Turtle abbreviates them.
fn bare<'a>(bytes: &mut &'a [u8]) -> Result<Term<'a>, String> {
    let all = *bytes;
    let end = all.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let (word, rest) = all.split_at(end.unwrap_or(all.len()));
    *bytes = rest;
    let digits = word.iter().any(u8::is_ascii_digit);
    let kind = match word {
        b"true" | b"false" => "boolean",
        _ if !digits || !word.iter().all(|byte| b"+-.0123456789eE".contains(byte)) => {
            return Err(wrong("no term", all));
        }
        _ if word.iter().any(|byte| matches!(byte, b'e' | b'E')) => "double",
        _ if word.contains(&b'.') => "decimal",
        _ => "integer",
    };
    let datatype = format!("http://www.w3.org/2001/XMLSchema#{kind}").into_bytes();
    Ok(Term::typed(Cow::Borrowed(word), Cow::Owned(datatype)))
}

/// Text without its escapes; `None`: one of them is none.
fn unescaped(bytes: &[u8], of_text: bool) -> Option<Text<'_>> {
    if !bytes.contains(&b'\\') {
        return Some(Cow::Borrowed(bytes));
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let (kind, behind) = rest.split_first()?;
        rest = behind;
        let plain = match kind {
            b'u' => {
                rest = code_point(rest, 4, &mut out)?;
                continue;
            }
            b'U' => {
                rest = code_point(rest, 8, &mut out)?;
                continue;
            }
            _ if !of_text => return None,
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\'' | b'\\' => *kind,
            _ => return None,
        };
        out.push(plain);
    }
    Some(Cow::Owned(out))
}

/// Writes the character of so many hexadecimal digits; what stands behind them.
fn code_point<'a>(bytes: &'a [u8], digits: usize, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (hexadecimal, rest) = bytes.split_at_checked(digits)?;
    let mut code = 0;
    for byte in hexadecimal {
        code = code * 16 + char::from(*byte).to_digit(16)?;
    }
    let character = char::from_u32(code)?;
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Some(rest)
}
