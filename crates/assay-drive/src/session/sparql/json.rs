//! SPARQL's results as JSON. Only what is needed of it is kept, and nothing is read twice: a row is
//! an object, whose values become terms in place.

use std::borrow::Cow;

use super::answer::{OF_TRUTH, Rows, wrong};
use super::term::{Of, Term, Text};

/// Objects and lists within each other, at most.
const DEPTH_MAX: usize = 128;

/// Where in an answer its reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    stage: Stage,
    /// Something stands before in the object or list that is read.
    follows: bool,
    has_columns: bool,
    answer: Answer,
}

/// Which kind of answer came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    None,
    /// A truth value: it is the one row, and the only column.
    Truth,
    Rows,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Start,
    /// In the object that all is in.
    Top,
    /// In the object with the rows.
    Results,
    /// In the list of rows.
    Bindings,
    /// Behind the end.
    Ended,
}

/// Why reading stops.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    /// More bytes are needed.
    Short,
    Wrong(String),
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
        let mut json = Json { bytes, at: 0, ended };
        let mut cells: Vec<Term<'_>> = Vec::with_capacity(columns.len());
        loop {
            let (before, at) = (*self, json.at);
            match self.step(&mut json, columns, &mut cells, rows) {
                Ok(true) => {}
                Ok(false) => return Ok(json.at),
                Err(Stop::Short) if ended => {
                    return Err("the answer cannot be read: it ends before its end".into());
                }
                Err(Stop::Short) => {
                    *self = before;
                    return Ok(at);
                }
                Err(Stop::Wrong(reason)) => return Err(reason),
            }
        }
    }

    /// Reads one member of an object, or one element of a list; false behind the end.
    fn step<'a>(
        &mut self,
        json: &mut Json<'a>,
        columns: &mut Vec<String>,
        cells: &mut Vec<Term<'a>>,
        rows: &mut impl Rows,
    ) -> Result<bool, Stop> {
        match self.stage {
            Stage::Start => {
                json.take(b'{')?;
                self.enter(Stage::Top, false);
            }
            Stage::Top => match json.key(self.follows)? {
                None => self.enter(Stage::Ended, true),
                Some(key) => self.member(&key, json, columns, rows)?,
            },
            Stage::Results => match json.key(self.follows)? {
                None => self.enter(Stage::Top, true),
                Some(key) if *key == *b"bindings" => {
                    if !self.has_columns {
                        return Err(json.wrong("rows before their variables"));
                    }
                    json.take(b'[')?;
                    self.enter(Stage::Bindings, false);
                }
                Some(_) => {
                    json.skip(0)?;
                    self.follows = true;
                }
            },
            Stage::Bindings => {
                if json.closes(b']', self.follows)? {
                    self.enter(Stage::Results, true);
                } else {
                    json.row(columns, cells)?;
                    rows.row(cells).map_err(Stop::Wrong)?;
                    self.follows = true;
                }
            }
            Stage::Ended => {
                json.space();
                if json.at < json.bytes.len() {
                    return Err(json.wrong("something behind the end"));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    const fn enter(&mut self, stage: Stage, follows: bool) {
        self.stage = stage;
        self.follows = follows;
    }

    fn member(
        &mut self,
        key: &[u8],
        json: &mut Json<'_>,
        columns: &mut Vec<String>,
        rows: &mut impl Rows,
    ) -> Result<(), Stop> {
        self.follows = true;
        match key {
            // All rows have the same columns, whatever comes when.
            b"head" if self.has_columns => return Err(json.wrong("a second head")),
            b"boolean" | b"results" if self.answer != Answer::None => {
                return Err(json.wrong("a second answer"));
            }
            b"head" => {
                if let Some(names) = json.head()? {
                    self.has_columns = true;
                    if self.answer != Answer::Truth {
                        *columns = names;
                    }
                }
            }
            b"boolean" => {
                let value = json.truth()?;
                self.answer = Answer::Truth;
                *columns = vec![OF_TRUTH.into()];
                rows.row(&[Term::boolean(value)]).map_err(Stop::Wrong)?;
            }
            b"results" => {
                json.take(b'{')?;
                self.answer = Answer::Rows;
                self.enter(Stage::Results, false);
            }
            _ => json.skip(0)?,
        }
        Ok(())
    }
}

/// A value of an answer, as its members tell it.
#[derive(Default)]
struct TermMembers<'a> {
    kind: Option<Text<'a>>,
    value: Option<Text<'a>>,
    language: Option<Text<'a>>,
    datatype: Option<Text<'a>>,
}

impl<'a> TermMembers<'a> {
    fn term(self, json: &Json<'_>) -> Result<Term<'a>, Stop> {
        let Some(value) = self.value else { return Err(json.wrong("a term without a value")) };
        match self.kind.as_deref() {
            Some(b"uri") => Ok(Term::Iri(value)),
            Some(b"bnode") => Ok(Term::Blank),
            Some(b"literal" | b"typed-literal") => Ok(match (self.language, self.datatype) {
                (Some(tag), _) => Term::Literal(value, Of::Language(tag)),
                (None, Some(datatype)) => Term::typed(value, datatype),
                (None, None) => Term::Literal(value, Of::Plain),
            }),
            _ => Err(json.wrong("a term of a kind that is not read here")),
        }
    }
}

/// What of a text is read already.
struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Nothing comes behind the bytes.
    ended: bool,
}

impl<'a> Json<'a> {
    fn wrong(&self, what: &str) -> Stop {
        Stop::Wrong(wrong(what, &self.bytes[self.at..]))
    }

    fn space(&mut self) {
        let rest = &self.bytes[self.at..];
        let blank = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += blank.unwrap_or(rest.len());
    }

    /// The next byte that is not blank, which stays there.
    fn peek(&mut self) -> Result<u8, Stop> {
        self.space();
        self.bytes.get(self.at).copied().ok_or(Stop::Short)
    }

    fn take(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.peek()? != wanted {
            return Err(self.wrong(&format!("something else than {:?}", char::from(wanted))));
        }
        self.at += 1;
        Ok(())
    }

    /// Whether a list or an object ends here; else what separates its parts is taken.
    fn closes(&mut self, close: u8, follows: bool) -> Result<bool, Stop> {
        if self.peek()? == close {
            self.at += 1;
            return Ok(true);
        }
        if follows {
            self.take(b',')?;
        }
        Ok(false)
    }

    /// The next key of an object; `None`: it ends.
    fn key(&mut self, follows: bool) -> Result<Option<Text<'a>>, Stop> {
        if self.closes(b'}', follows)? {
            return Ok(None);
        }
        let key = self.string()?;
        self.take(b':')?;
        Ok(Some(key))
    }

    fn string(&mut self) -> Result<Text<'a>, Stop> {
        self.take(b'"')?;
        let (begin, bytes) = (self.at, self.bytes);
        let rest = &bytes[begin..];
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        let length = rest.iter().position(ends).ok_or(Stop::Short)?;
        if rest[length] == b'"' {
            self.at += length + 1;
            return self.utf8(&rest[..length]).map(Cow::Borrowed);
        }
        let mut out = rest[..length].to_vec();
        self.at += length;
        loop {
            match *self.bytes.get(self.at).ok_or(Stop::Short)? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                0..=0x1f => return Err(self.wrong("a character that a text may not have")),
                byte => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        self.utf8(&out)?;
        Ok(Cow::Owned(out))
    }

    fn utf8<'t>(&self, text: &'t [u8]) -> Result<&'t [u8], Stop> {
        match std::str::from_utf8(text) {
            Ok(_) => Ok(text),
            Err(_) => Err(self.wrong("a text that is not in UTF-8 before")),
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        let kind = *self.bytes.get(self.at).ok_or(Stop::Short)?;
        self.at += 1;
        out.push(match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = self.code_point()?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.wrong("an escape that there is not before")),
        });
        Ok(())
    }

    /// The character of four hexadecimal digits, or of a pair of them.
    fn code_point(&mut self) -> Result<char, Stop> {
        let mut code = self.hexadecimal()?;
        if (0xD800..0xDC00).contains(&code) {
            for wanted in [b'\\', b'u'] {
                if *self.bytes.get(self.at).ok_or(Stop::Short)? != wanted {
                    return Err(self.wrong("half a character before"));
                }
                self.at += 1;
            }
            let low = self.hexadecimal()?;
            if !(0xDC00..0xE000).contains(&low) {
                return Err(self.wrong("half a character before"));
            }
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        char::from_u32(code).ok_or_else(|| self.wrong("half a character before"))
    }

    fn hexadecimal(&mut self) -> Result<u32, Stop> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = *self.bytes.get(self.at).ok_or(Stop::Short)?;
            let digit = char::from(byte).to_digit(16);
            code = code * 16 + digit.ok_or_else(|| self.wrong("no digit"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// The variables of a head; `None`: it names none.
    fn head(&mut self) -> Result<Option<Vec<String>>, Stop> {
        self.take(b'{')?;
        let (mut columns, mut follows) = (None, false);
        while let Some(key) = self.key(follows)? {
            follows = true;
            if *key != *b"vars" {
                self.skip(0)?;
                continue;
            }
            self.take(b'[')?;
            let (mut names, mut behind) = (Vec::new(), false);
            while !self.closes(b']', behind)? {
                names.push(String::from_utf8_lossy(&self.string()?).into_owned());
                behind = true;
            }
            columns = Some(names);
        }
        Ok(columns)
    }

    fn truth(&mut self) -> Result<bool, Stop> {
        let value = self.peek()? == b't';
        self.word(if value { b"true" } else { b"false" })?;
        Ok(value)
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(if word.starts_with(rest) { Stop::Short } else { self.wrong("no value") })
    }

    /// One row: its terms in the order of the columns.
    fn row(&mut self, columns: &[String], cells: &mut Vec<Term<'a>>) -> Result<(), Stop> {
        cells.clear();
        cells.resize(columns.len(), Term::Unbound);
        self.take(b'{')?;
        let (mut follows, mut expected) = (false, 0);
        while let Some(key) = self.key(follows)? {
            follows = true;
            // Servers write them in the order of the head.
            let here = columns.get(expected).is_some_and(|name| *name.as_bytes() == *key);
            let column = if here {
                Some(expected)
            } else {
                columns.iter().position(|name| *name.as_bytes() == *key)
            };
            let Some(column) = column else {
                return Err(self.wrong("a value of no variable"));
            };
            cells[column] = self.term()?;
            expected = column + 1;
        }
        Ok(())
    }

    fn term(&mut self) -> Result<Term<'a>, Stop> {
        self.take(b'{')?;
        let (mut members, mut follows) = (TermMembers::default(), false);
        while let Some(key) = self.key(follows)? {
            follows = true;
            match &*key {
                b"type" => members.kind = Some(self.string()?),
                b"value" if self.peek()? == b'"' => members.value = Some(self.string()?),
                b"xml:lang" => members.language = Some(self.string()?),
                b"datatype" => members.datatype = Some(self.string()?),
                _ => self.skip(0)?,
            }
        }
        members.term(self)
    }

    /// Reads any value and forgets it.
    fn skip(&mut self, depth: usize) -> Result<(), Stop> {
        if depth == DEPTH_MAX {
            return Err(self.wrong("too many objects within each other"));
        }
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => {
                self.at += 1;
                let mut follows = false;
                while self.key(follows)?.is_some() {
                    self.skip(depth + 1)?;
                    follows = true;
                }
                Ok(())
            }
            b'[' => {
                self.at += 1;
                let mut follows = false;
                while !self.closes(b']', follows)? {
                    self.skip(depth + 1)?;
                    follows = true;
                }
                Ok(())
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Result<(), Stop> {
        let rest = &self.bytes[self.at..];
        let of_number = |byte: &u8| b"+-.0123456789eE".contains(byte);
        let length = rest.iter().position(|byte| !of_number(byte));
        let length = match length {
            None if !self.ended => return Err(Stop::Short),
            length => length.unwrap_or(rest.len()),
        };
        if !is_number(&rest[..length]) {
            return Err(self.wrong("no value"));
        }
        self.at += length;
        Ok(())
    }
}

/// Whether JSON has such a number.
fn is_number(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> Option<&[u8]> {
        let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (length > 0).then(|| &text[length..])
    }
    fn after(text: &[u8]) -> Option<&[u8]> {
        let text = text.strip_prefix(b"-").unwrap_or(text);
        let mut rest = match text.strip_prefix(b"0") {
            Some(rest) => rest,
            None => digits(text)?,
        };
        if let Some(fraction) = rest.strip_prefix(b".") {
            rest = digits(fraction)?;
        }
        if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
            let bare = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-"));
            rest = digits(bare.unwrap_or(exponent))?;
        }
        Some(rest)
    }
    after(text).is_some_and(<[u8]>::is_empty)
}
