//! Responses of HTTP/1.1 to SPARQL requests.

use assay_drive::conductor::Conductor;
use assay_drive::session::sparql::answers::Answers;
use assay_drive::session::sparql::request::Kind;
use assay_drive::session::sparql::response::Response;
use assay_drive::session::sparql::verdict;

use super::columns::choice;
use super::script;

/// Where a response is cut, then the response: it is the same however it comes.
pub fn response(bytes: &[u8]) {
    let (cut, bytes) = choice(bytes);
    let whole = received(&[bytes]);
    let (before, behind) = bytes.split_at(cut.min(bytes.len()));
    let parts = received(&[before, behind]);
    match (&whole, &parts) {
        (Some(whole), Some(parts)) => {
            assert_eq!((&whole.head, &whole.body), (&parts.head, &parts.body));
            assert_eq!(whole.is_whole(), parts.is_whole());
        }
        (whole, parts) => assert_eq!(whole.is_some(), parts.is_some()),
    }
    if let Some(response) = whole {
        answer(response);
    }
}

fn received(parts: &[&[u8]]) -> Option<Response> {
    let mut response = Response::default();
    response.begin();
    for part in parts {
        response.feed(part).ok()?;
    }
    let _ = response.close();
    Some(response)
}

/// Takes what a response holds for the answer to a request of each kind.
fn answer(mut response: Response) {
    let Ok(conductor) = Conductor::new(script::of(&response.body), 1, 0) else { return };
    let body = response.body.clone();
    for kind in [Kind::Select, Kind::Ask, Kind::Graph, Kind::Update] {
        if let Ok(Some(form)) = verdict::of(&response, kind) {
            response.body.clone_from(&body);
            let mut answers = Answers::default();
            let _ = answers.take(form, &mut response.body);
            let _ = answers.fetched(&conductor);
        }
    }
}
