//! Texts of statements.

use assay_drive::session::mysql::statements::marked;
use assay_drive::session::sparql::request::Request;
use assay_drive::session::value::Bound;

/// The text of a statement of each protocol that has values written into it.
pub fn statements(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (made, order) = marked(&text);
    assert_eq!(made.matches('?').count(), text.matches('?').count() + order.len());
    let request = Request::read(&text);
    let mut out = Vec::new();
    for value in [
        Bound::Null,
        Bound::Integer(i64::MIN),
        Bound::Decimal(i64::MIN, 200),
        Bound::Timestamp(i64::MIN),
        Bound::Text(&text),
    ] {
        let _ = request.write(|_| Some(value), &mut out);
        out.clear();
    }
}
