//! An HTTP/1.1 response, read in whatever parts it comes: its head, then its body, in one piece.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Status};

/// A head that is longer is none.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Nor is a line that tells the length of a part.
const LINE_BYTES_MAX: usize = 4 << 10;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// A head with more fields is none.
const FIELDS_MAX: usize = 128;
/// No field that matters here has a longer name.
const NAME_BYTES_MAX: usize = 32;
/// How much of a first line is shown that is none.
const FIRST_SHOWN_BYTES: usize = 60;

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    /// So many bytes are to come.
    Sized(u64),
    /// The line that tells the length of a part.
    PartLength,
    Part(u64),
    PartEnd,
    /// Lines behind the last part.
    Trailer,
    /// The body ends with the line to the server.
    UntilClosed,
    Ended,
}

/// What a head says, as far as a session cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status: 200 is good.
    pub status: u16,
    /// What the body is, without its parameters, in small letters.
    pub content_type: String,
    /// Whether the server closes the line behind this response.
    pub closes: bool,
    /// Where else the server wants to be asked.
    pub location: Option<String>,
    /// How it wants to know who asks.
    pub authenticate: Option<String>,
    /// How the body is packed, if it is.
    pub encoding: Option<String>,
    /// Virtuoso's: the answer was cut after so many rows.
    pub rows_max: Option<String>,
    /// Virtuoso's: an SQLSTATE.
    pub sql_state: Option<String>,
    length: Option<u64>,
    chunked: bool,
}

/// One response.
#[derive(Debug)]
pub struct Response {
    stage: Stage,
    line: Vec<u8>,
    /// What the head says, once it is whole.
    pub head: Head,
    /// Bytes of the body so far that nobody has taken away.
    pub body: Vec<u8>,
    received: u64,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            stage: Stage::Head,
            line: Vec::with_capacity(1 << 10),
            head: Head::default(),
            body: Vec::with_capacity(16 << 10),
            received: 0,
        }
    }
}

impl Response {
    /// Awaits the next response; what `body` holds stays.
    pub fn begin(&mut self) {
        self.stage = Stage::Head;
        self.line.clear();
        self.received = 0;
    }

    /// Whether all of it is there.
    pub fn is_whole(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Whether the head is whole.
    pub fn has_head(&self) -> bool {
        self.stage != Stage::Head
    }

    /// Whether nothing of it has come.
    pub const fn is_untouched(&self) -> bool {
        self.received == 0
    }

    /// Takes bytes as they come.
    ///
    /// # Errors
    /// If they are no response, or go on behind its end.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        self.received += bytes.len() as u64;
        while !bytes.is_empty() {
            match self.stage {
                Stage::Head => {
                    if self.take_head(&mut bytes)? {
                        self.begin_body()?;
                    }
                }
                Stage::Sized(left) => match self.take_body(&mut bytes, left) {
                    0 => self.stage = Stage::Ended,
                    left => self.stage = Stage::Sized(left),
                },
                Stage::PartLength => {
                    if self.take_line(&mut bytes)? {
                        self.stage = match part_length(&self.line)? {
                            0 => Stage::Trailer,
                            length => Stage::Part(length),
                        };
                        self.line.clear();
                    }
                }
                Stage::Part(left) => match self.take_body(&mut bytes, left) {
                    0 => self.stage = Stage::PartEnd,
                    left => self.stage = Stage::Part(left),
                },
                Stage::PartEnd => {
                    if self.take_line(&mut bytes)? {
                        if !self.line.is_empty() {
                            return Err("a part of its body is longer than it says".into());
                        }
                        self.stage = Stage::PartLength;
                    }
                }
                Stage::Trailer => {
                    if self.take_line(&mut bytes)? {
                        let last = self.line.is_empty();
                        self.line.clear();
                        self.stage = if last { Stage::Ended } else { Stage::Trailer };
                    }
                }
                Stage::UntilClosed => {
                    self.body.extend_from_slice(bytes);
                    return Ok(());
                }
                Stage::Ended => {
                    return Err(format!("{} bytes behind its end", bytes.len()));
                }
            }
        }
        Ok(())
    }

    /// The line was closed: whether the response is whole all the same. What is left out else says
    /// how much of it came.
    pub fn close(&mut self) -> Result<(), String> {
        match self.stage {
            Stage::Ended => Ok(()),
            Stage::UntilClosed => {
                self.stage = Stage::Ended;
                Ok(())
            }
            Stage::Sized(left) => Err(format!("{left} bytes of its body are missing")),
            Stage::Head => Err("it has no whole head".into()),
            _ => Err("its last part did not come".into()),
        }
    }

    /// Takes bytes up to the end of the head; whether it is whole.
    fn take_head(&mut self, bytes: &mut &[u8]) -> Result<bool, String> {
        let searched = self.line.len().saturating_sub(END_OF_HEAD.len() - 1);
        self.line.extend_from_slice(bytes);
        let rest = &self.line[searched..];
        let Some(offset) = rest.windows(END_OF_HEAD.len()).position(|w| w == END_OF_HEAD) else {
            *bytes = &[];
            return if self.line.len() > HEAD_BYTES_MAX {
                Err(format!("its head is longer than {HEAD_BYTES_MAX} bytes"))
            } else {
                Ok(false)
            };
        };
        let end = searched + offset + END_OF_HEAD.len();
        *bytes = &bytes[bytes.len() - (self.line.len() - end)..];
        self.line.truncate(end);
        Ok(true)
    }

    fn begin_body(&mut self) -> Result<(), String> {
        self.head.read(&self.line)?;
        self.line.clear();
        let bare = matches!(self.head.status, 204 | 304);
        self.stage = match (self.head.status, self.head.chunked, self.head.length) {
            // It says that the response is still to come.
            (100..=199, ..) => Stage::Head,
            _ if bare => Stage::Ended,
            (_, true, _) => Stage::PartLength,
            (_, false, Some(0)) => Stage::Ended,
            (_, false, Some(length)) => Stage::Sized(length),
            (_, false, None) => {
                self.head.closes = true;
                Stage::UntilClosed
            }
        };
        Ok(())
    }

    /// Takes what there is of so many bytes of the body; how many are left.
    fn take_body(&mut self, bytes: &mut &[u8], left: u64) -> u64 {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let (taken, rest) = bytes.split_at(here);
        self.body.extend_from_slice(taken);
        *bytes = rest;
        left - here as u64
    }

    /// Takes bytes up to the end of a line; whether it is whole, which it is without that end.
    fn take_line(&mut self, bytes: &mut &[u8]) -> Result<bool, String> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (taken, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.line.extend_from_slice(taken);
        *bytes = rest;
        if self.line.len() > LINE_BYTES_MAX {
            return Err("a line between parts of its body has no end".into());
        }
        if end.is_none() {
            return Ok(false);
        }
        self.line.pop();
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }
}

/// The length of a part, in hexadecimal digits, before what else its line says.
fn part_length(line: &[u8]) -> Result<u64, String> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'));
    let length = text.and_then(|text| u64::from_str_radix(text, 16).ok());
    length.ok_or_else(|| {
        format!("{:?} where the length of a part was due", String::from_utf8_lossy(line))
    })
}

impl Head {
    fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        *self = Self::default();
        let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed =
            lenient().parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
        match (parsed, response.version, response.code) {
            (Ok(Status::Complete(_)), Some(minor), Some(status)) => {
                (self.status, self.closes) = (status, minor == 0);
            }
            (Err(error), _, Some(_)) => return Err(format!("its head cannot be read: {error}")),
            _ => return Err(format!("it begins with {:?}", first_line(bytes))),
        }
        for field in response.headers {
            let mut name = [0; NAME_BYTES_MAX];
            if let Some(name) = name.get_mut(..field.name.len()) {
                name.copy_from_slice(field.name.as_bytes());
                name.make_ascii_lowercase();
                self.field(name, &String::from_utf8_lossy(field.value))?;
            }
        }
        Ok(())
    }

    /// Takes a field by its name in small letters.
    fn field(&mut self, name: &[u8], value: &str) -> Result<(), String> {
        let owned = || Some(value.to_owned());
        match name {
            b"content-type" => {
                let bare = value.split(';').next().unwrap_or_default();
                self.content_type = bare.trim().to_ascii_lowercase();
            }
            b"content-length" => {
                let length = value.parse().map_err(|_| format!("a length of {value:?} bytes"))?;
                if self.length.is_some_and(|other| other != length) {
                    return Err("two lengths of one body".into());
                }
                self.length = Some(length);
            }
            b"transfer-encoding" => match value.to_ascii_lowercase().as_str() {
                "chunked" => self.chunked = true,
                "identity" => {}
                other => return Err(format!("its body is packed as {other}")),
            },
            b"connection" => {
                let options = value.to_ascii_lowercase();
                let has = |wanted| options.split(',').any(|word| word.trim() == wanted);
                self.closes = has("close") || self.closes && !has("keep-alive");
            }
            b"content-encoding" if !value.eq_ignore_ascii_case("identity") => {
                self.encoding = owned();
            }
            b"location" => self.location = owned(),
            b"www-authenticate" => self.authenticate = owned(),
            b"x-sparql-maxrows" => self.rows_max = owned(),
            b"x-sql-state" => self.sql_state = owned(),
            _ => {}
        }
        Ok(())
    }
}

/// Takes what servers send that is almost a field.
fn lenient() -> ParserConfig {
    let mut parser = ParserConfig::default();
    parser
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    parser
}

fn first_line(bytes: &[u8]) -> String {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    first.trim_end().chars().take(FIRST_SHOWN_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHUNKED: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: Text/X; a=b\r\n\
        transfer-encoding: Chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n";
    const SIZED: &str =
        "HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\nConnection: Close\r\n\r\nnothing";

    fn fed(text: &str) -> Result<Response, String> {
        let mut response = Response::default();
        response.feed(text.as_bytes())?;
        Ok(response)
    }

    #[test]
    fn a_head_says_what_it_says() {
        let response = fed(SIZED).unwrap();
        assert!(response.is_whole() && response.head.closes);
        assert_eq!((response.head.status, response.body.as_slice()), (404, b"nothing".as_slice()));
        let old =
            fed("HTTP/1.0 200 OK\r\nX-SPARQL-MaxRows: 10\r\nX-SQL-State: S1TAT\r\n\r\nab").unwrap();
        assert!(!old.is_whole() && old.head.closes);
        assert_eq!(old.head.rows_max.as_deref(), Some("10"));
        assert_eq!(old.head.sql_state.as_deref(), Some("S1TAT"));
        let kept = fed("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
        assert!(!kept.unwrap().head.closes);
        assert!(fed("HTTP/1.1 204 No Content\r\n\r\n").unwrap().is_whole());
    }

    #[test]
    fn what_is_almost_a_field_hides_no_other() {
        let head = "HTTP/1.1 200\r\nno field\r\nX-Long: a\r\n b\r\ncontent-LENGTH : 2\r\n\r\nab";
        assert_eq!(fed(head).unwrap().body, b"ab");
        let many = "X: y\r\n".repeat(FIELDS_MAX + 1);
        let refused = fed(&format!("HTTP/1.1 200 OK\r\n{many}\r\n")).unwrap_err();
        assert!(refused.contains("its head cannot be read"), "{refused}");
    }

    #[test]
    fn what_ends_early_is_not_whole() {
        let mut open = fed("HTTP/1.1 200 OK\r\n\r\nab").unwrap();
        assert!(open.close().is_ok() && open.is_whole());
        let mut short = fed(&SIZED[..SIZED.len() - 2]).unwrap();
        assert_eq!(short.close().unwrap_err(), "2 bytes of its body are missing");
        for length in 30..CHUNKED.len() {
            let mut cut = fed(&CHUNKED[..length]).unwrap();
            assert!(cut.close().is_err(), "{length}");
        }
    }

    #[test]
    fn what_is_no_response_says_why() {
        for (text, expected) in [
            ("SSH-2.0-x\r\n\r\n", "begins with"),
            ("HTTP/2 200\r\n\r\n", "begins with"),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "a length of"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "packed as gzip"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "length of a part"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
                "longer than it says",
            ),
            ("HTTP/1.1 204 No Content\r\n\r\nab", "2 bytes behind its end"),
        ] {
            let message = fed(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
        assert!(fed(&"x".repeat(HEAD_BYTES_MAX + 1)).unwrap_err().contains("longer than"));
    }

    proptest! {
        #[test]
        fn it_is_the_same_wherever_it_is_cut(cuts in proptest::collection::vec(1..30_usize, 1..80)) {
            for (text, body) in [(CHUNKED, "hello 0123456789"), (SIZED, "nothing")] {
                let (mut response, mut place) = (Response::default(), 0);
                for cut in cuts.iter().cycle() {
                    let end = (place + cut).min(text.len());
                    prop_assert!(!response.is_whole());
                    response.feed(&text.as_bytes()[place..end]).unwrap();
                    place = end;
                    if place == text.len() { break; }
                }
                prop_assert!(response.is_whole());
                prop_assert_eq!(response.body.as_slice(), body.as_bytes());
            }
        }

        #[test]
        fn garbage_never_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut response = Response::default();
            let _ = response.feed(&bytes);
            for head in ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
                let mut response = Response::default();
                response.feed(head.as_bytes()).unwrap();
                let _ = response.feed(&bytes);
            }
        }
    }
}
