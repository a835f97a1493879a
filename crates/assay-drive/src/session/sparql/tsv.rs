//! SPARQL's results between tabs: a line of variables, then a line a row with terms as Turtle
//! writes them; an empty one has no value.

use super::answer::{Rows, line, wrong};
use super::term::Term;
use super::turtle;

/// Where in an answer its reader is.
#[derive(Debug, Default)]
pub struct Place {
    has_columns: bool,
}

impl Place {
    /// See [`super::answer::Reader::read`].
    pub fn read(
        &mut self,
        columns: &mut Vec<String>,
        bytes: &[u8],
        ended: bool,
        rows: &mut impl Rows,
    ) -> Result<usize, String> {
        let mut cells: Vec<Term<'_>> = Vec::with_capacity(columns.len());
        let mut place = 0;
        while let Some((line, next)) = line(bytes, place, ended) {
            if self.has_columns {
                cells.clear();
                split(line, columns.len(), &mut cells)?;
                rows.row(&cells)?;
            } else {
                *columns = variables(line)?;
                self.has_columns = true;
            }
            place = next;
        }
        if ended && !self.has_columns {
            return Err(wrong("no variables", bytes));
        }
        Ok(place)
    }
}

fn variables(line: &[u8]) -> Result<Vec<String>, String> {
    if line.is_empty() {
        return Ok(Vec::new());
    }
    line.split(|byte| *byte == b'\t')
        .map(|name| {
            let bare = name.strip_prefix(b"?").or_else(|| name.strip_prefix(b"$"));
            let bare = bare.ok_or_else(|| wrong("no variable", name))?;
            Ok(String::from_utf8_lossy(bare).into_owned())
        })
        .collect()
}

/// The terms of a line, of which there must be so many.
fn split<'a>(line: &'a [u8], columns: usize, cells: &mut Vec<Term<'a>>) -> Result<(), String> {
    let mut rest = line;
    loop {
        match rest.first() {
            None | Some(b'\t') => cells.push(Term::Unbound),
            Some(_) => cells.push(turtle::take(&mut rest)?),
        }
        match rest.split_first() {
            None => break,
            Some((b'\t', behind)) => rest = behind,
            Some(_) => return Err(wrong("more than a term between two tabs", rest)),
        }
    }
    match cells.len() {
        _ if columns == 0 && line.is_empty() => cells.clear(),
        there if there == columns => {}
        there => {
            return Err(wrong(&format!("a row of {there} values for {columns} variables"), line));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::sparql::answer::{Form, Reader};

    fn read(text: &str, ended: bool) -> Result<(Vec<String>, Vec<String>, usize), String> {
        let (mut reader, mut rows) = (Reader::new(Form::Tsv), Vec::new());
        let mut take = |cells: &[Term<'_>]| {
            let mut out = Vec::new();
            for cell in cells {
                cell.write(&mut out);
                out.push(b'|');
            }
            rows.push(String::from_utf8(out).unwrap());
            Ok(())
        };
        let count = reader.read(text.as_bytes(), ended, &mut take)?;
        Ok((reader.columns, rows, count))
    }

    #[test]
    fn terms_are_read_as_turtle_has_them() {
        let text =
            "?a\t$b\t?c\r\n<x>\t\"t\\u00e9\\t\\\"\"@en\t_:n1\n\t-1.50\ttrue\n1e1\t\t'it\\'s'";
        let (columns, rows, count) = read(text, true).unwrap();
        assert_eq!((columns.join(" "), count), ("a b c".into(), text.len()));
        assert_eq!(rows[0], "<x>|\"t\u{e9}\t\\\"\"@en|_:|");
        assert_eq!(rows[1], "|-1.5|true|");
        assert_eq!(rows[2], "\"1e1\"^^<http://www.w3.org/2001/XMLSchema#double>||\"it's\"|");
    }

    #[test]
    fn a_row_of_one_variable_may_be_empty() {
        assert_eq!(read("?a\n\n<x>\n", true).unwrap().1, ["|", "<x>|"]);
        assert_eq!(read("\n\n\n", true).unwrap().1, ["", ""]);
    }

    #[test]
    fn a_line_that_is_not_whole_waits() {
        let (_, rows, count) = read("?a\n<x>\n<y", false).unwrap();
        assert_eq!((rows.len(), count), (1, 7));
        assert!(read("?a\n<x>\n<y", true).unwrap_err().contains("IRI without its end"));
    }

    #[test]
    fn what_is_no_answer_says_where() {
        for (text, expected) in [
            ("", "no variables"),
            ("a\n", "no variable"),
            ("?a\n<x>\t<y>\n", "2 values for 1 variables"),
            ("?a\n<x> <y>\n", "more than a term"),
            ("?a\nerror: x\n", "no term"),
            ("?a\n\"x\n", "text without its end"),
            ("?a\n\"\\q\"\n", "escape that there is not"),
            ("?a\n\"\\uD800\"\n", "escape that there is not"),
            ("?a\n\"x\"^^y\n", "type that is no IRI"),
            ("?a\n\"x\"@\n", "language without a name"),
            ("?a\n<<( <a> <b> <c> )>>\n", "statement within a statement"),
        ] {
            let message = read(text, true).unwrap_err();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
}
