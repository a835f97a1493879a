//! What a response means to whoever asked: an answer in a form that is read here, or why it is none.

use super::answer::Form;
use super::request::Kind;
use super::response::{Head, Response};
use crate::session::SessionError;

/// Virtuoso's SQLSTATE of an answer that time cut short.
const PARTIAL: &str = "S1TAT";
/// An SQLSTATE of what failed because of others.
const ROLLED_BACK: &str = "40001";
/// Characters of a server's words that are told.
const WORDS_MAX: usize = 400;
/// They are looked for in so much of what it sent.
const WORDS_READ_BYTES: usize = 64 << 10;

fn failed(class: impl Into<String>, message: impl Into<String>) -> SessionError {
    SessionError { class: class.into(), message: message.into(), retryable: false }
}

/// The form of an answer; `None`: of an update there is none.
///
/// # Errors
/// If the server refused, sent a part only, or what it sent is nothing that was asked for.
pub fn of(response: &Response, kind: Kind) -> Result<Option<Form>, SessionError> {
    let head = &response.head;
    match head.status {
        200..=299 => {}
        300..=399 => return Err(moved(head)),
        401 | 407 => return Err(unknown(head)),
        status => return Err(refused(head, status, &response.body)),
    }
    if let Some(rows) = &head.rows_max {
        return Err(failed(
            "truncated",
            format!(
                "the server cuts answers after {rows} rows (X-SPARQL-MaxRows): raise its limit, in \
                 Virtuoso ResultSetMaxRows of [SPARQL], or ask for less"
            ),
        ));
    }
    if head.sql_state.as_deref() == Some(PARTIAL) {
        return Err(failed(
            "partial",
            "the server sent a part of the answer only, because its time was up (S1TAT): raise its \
             limit, in Virtuoso MaxQueryExecutionTime of [SPARQL], or ask for less",
        ));
    }
    if let Some(encoding) = &head.encoding {
        return Err(failed("result", format!("the answer is packed as {encoding}, unasked")));
    }
    if kind == Kind::Update { Ok(None) } else { form(head, kind).map(Some) }
}

fn form(head: &Head, kind: Kind) -> Result<Form, SessionError> {
    let content_type = head.content_type.as_str();
    match (content_type, kind) {
        ("application/sparql-results+json" | "application/json", Kind::Select | Kind::Ask) => {
            Ok(Form::Json)
        }
        ("text/tab-separated-values", Kind::Select) => Ok(Form::Tsv),
        ("application/n-triples" | "text/plain" | "text/ntriples", Kind::Graph) => {
            Ok(Form::NTriples)
        }
        ("text/html" | "application/xhtml+xml", _) => Err(failed(
            "result",
            "a web page came instead of an answer: the URL is no SPARQL endpoint; name the one that \
             takes queries, such as http://host:port/sparql",
        )),
        _ => {
            let content_type =
                if content_type.is_empty() { "nothing that says what it is" } else { content_type };
            Err(failed(
                "result",
                format!("the answer came as {content_type}, which was not asked for"),
            ))
        }
    }
}

fn moved(head: &Head) -> SessionError {
    let place = head.location.as_deref().unwrap_or("a place it does not name");
    let message = format!("the server sends us on to {place}: name the endpoint's own URL");
    failed(format!("http_{}", head.status), message)
}

fn unknown(head: &Head) -> SessionError {
    let asks = head.authenticate.as_deref().and_then(|challenge| challenge.split(' ').next());
    let asks = asks.unwrap_or("a proof");
    let message = if asks.eq_ignore_ascii_case("digest") {
        "the server wants to know who asks, by Digest, which is not spoken here: let it take Basic, or \
         name an endpoint that needs no user"
            .into()
    } else {
        format!(
            "the server wants to know who asks ({asks}), and does not know us: name user and password \
             in the DSN, or in SPARQL_USER and SPARQL_PASSWORD"
        )
    };
    failed("28000", message)
}

fn refused(head: &Head, status: u16, body: &[u8]) -> SessionError {
    let class = head.sql_state.clone().unwrap_or_else(|| format!("http_{status}"));
    let retryable = class == ROLLED_BACK;
    let read = &body[..body.len().min(WORDS_READ_BYTES)];
    let reason = plain_text(&String::from_utf8_lossy(read), head.content_type.contains("html"));
    let reason = if reason.is_empty() { "no reason given".into() } else { reason };
    let mend = if status == 404 { "; is the path of the URL right?" } else { "" };
    SessionError { class, message: format!("{reason} (HTTP {status}){mend}"), retryable }
}

/// A server's words on one line, without the marks of a web page.
fn plain_text(text: &str, marked: bool) -> String {
    let mut plain = String::with_capacity(text.len().min(4 * WORDS_MAX));
    let mut within = false;
    for character in text.chars() {
        match character {
            '<' if marked => within = true,
            '>' if marked && within => {
                within = false;
                plain.push(' ');
            }
            _ if within => {}
            character => plain.push(character),
        }
    }
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(WORDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(head: &str, body: &str, kind: Kind) -> Result<Option<Form>, SessionError> {
        let mut response = Response::default();
        let length = body.len();
        let text = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}");
        response.feed(text.as_bytes()).unwrap();
        of(&response, kind)
    }

    #[test]
    fn an_answer_has_the_form_that_its_head_says() {
        for (content_type, kind, form) in [
            ("application/sparql-results+json;charset=utf-8", Kind::Ask, Form::Json),
            ("text/tab-separated-values", Kind::Select, Form::Tsv),
            ("Application/N-Triples", Kind::Graph, Form::NTriples),
        ] {
            let head = format!("200 OK\r\nContent-Type: {content_type}");
            assert_eq!(verdict(&head, "", kind), Ok(Some(form)));
        }
        assert_eq!(verdict("204 No Content", "", Kind::Update), Ok(None));
        assert_eq!(verdict("200 OK\r\nContent-Type: text/html", "done", Kind::Update), Ok(None));
    }

    #[test]
    fn what_is_no_answer_says_why_and_the_mend() {
        for (head, body, class, expected) in [
            ("200 OK\r\nX-SPARQL-MaxRows: 10", "", "truncated", "after 10 rows"),
            ("200 OK\r\nX-SQL-State: S1TAT", "", "partial", "its time was up"),
            ("200 OK\r\nContent-Encoding: gzip", "", "result", "packed as gzip"),
            ("200 OK\r\nContent-Type: text/html", "<html>", "result", "no SPARQL endpoint"),
            ("200 OK\r\nContent-Type: text/csv", "a", "result", "as text/csv"),
            ("200 OK", "a", "result", "nothing that says"),
            ("303 See Other\r\nLocation: http://x/y", "", "http_303", "sends us on to http://x/y"),
            ("401 No\r\nWWW-Authenticate: Digest realm=x", "", "28000", "by Digest"),
            ("401 No\r\nWWW-Authenticate: Basic realm=x", "", "28000", "SPARQL_PASSWORD"),
            ("400 Bad", "error at\n 1:2 ", "http_400", "error at 1:2 (HTTP 400)"),
            ("404 No", "", "http_404", "path of the URL"),
            ("500 No\r\nContent-Type: text/html", "<b>x</b>a < b", "http_500", "x a"),
            ("500 No\r\nX-SQL-State: 40001", "deadlock", "40001", "deadlock (HTTP 500)"),
        ] {
            let error = verdict(head, body, Kind::Select).unwrap_err();
            assert_eq!(error.class, class, "{head}");
            assert!(error.message.contains(expected), "{head}: {}", error.message);
            assert_eq!(error.retryable, class == "40001");
        }
    }
}
