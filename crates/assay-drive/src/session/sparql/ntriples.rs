//! Graphs as N-Triples have them: a statement a line, its terms, and a point.

use super::answer::{Rows, line, wrong};
use super::term::Term;
use super::turtle;

/// See [`super::answer::Reader::read`].
pub fn read(bytes: &[u8], ended: bool, rows: &mut impl Rows) -> Result<usize, String> {
    let mut place = 0;
    while let Some((line, next)) = line(bytes, place, ended) {
        if let Some(cells) = statement(line)? {
            rows.row(&cells)?;
        }
        place = next;
    }
    Ok(place)
}

/// The statement of a line; `None`: it is empty, or a comment.
fn statement(line: &[u8]) -> Result<Option<[Term<'_>; 3]>, String> {
    let mut rest = line.trim_ascii();
    if rest.is_empty() || rest.starts_with(b"#") {
        return Ok(None);
    }
    let mut next = || {
        let term = turtle::take(&mut rest)?;
        rest = rest.trim_ascii_start();
        Ok::<_, String>(term)
    };
    let cells = [next()?, next()?, next()?];
    let resource = |term: &Term<'_>| matches!(term, Term::Iri(_) | Term::Blank);
    if !resource(&cells[0]) || !matches!(cells[1], Term::Iri(_)) {
        return Err(wrong("no statement", line));
    }
    match rest.strip_prefix(b".").map(<[u8]>::trim_ascii_start) {
        Some([] | [b'#', ..]) => Ok(Some(cells)),
        _ => Err(wrong("a statement without its point", line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<String>, String> {
        let mut rows = Vec::new();
        let mut take = |cells: &[Term<'_>]| {
            let mut out = Vec::new();
            for cell in cells {
                cell.write(&mut out);
            }
            rows.push(String::from_utf8(out).unwrap());
            Ok(())
        };
        read(text.as_bytes(), true, &mut take)?;
        Ok(rows)
    }

    #[test]
    fn statements_are_rows() {
        let text = "# a comment\n\n<s> <p> \"o\\u0041\"@de .\n_:b1 <p> <o>. # another\n\
                    <s>\t<p>\t\"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n_:x<p>_:y .";
        let read = rows(text).unwrap();
        assert_eq!(read, ["<s><p>\"oA\"@de", "_:<p><o>", "<s><p>1", "_:<p>_:"]);
    }

    #[test]
    fn what_is_no_statement_says_where() {
        for (text, expected) in [
            ("<s> <p> .", "no term"),
            ("<s> <p> <o>", "without its point"),
            ("<s> <p> <o> . <s>", "without its point"),
            ("\"s\" <p> <o> .", "no statement"),
            ("<s> _:p <o> .", "no statement"),
            ("@prefix a: <b> .", "no term"),
        ] {
            let message = rows(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
