//! Records of a ring that the tracepoint writes into: bytes to a request. What is too short is none.

use perf_event_open_sys::bindings as sys;

use super::format::Format;

const HEADER_BYTES: usize = 8;
/// Kernel's numbers of devices have the minor one in so many bits.
const MINOR_BITS: u32 = 20;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// When.
    pub time_ns: i64,
    /// Whose hands it came from: the process.
    pub pid: u32,
    /// And the thread.
    pub tid: u32,
    /// Major and minor number.
    pub dev: (u32, u32),
    /// First sector.
    pub sector: u64,
    /// Bytes.
    pub bytes: u64,
    /// The kernel's letters.
    pub rwbs: &'a str,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A request.
    Request(Request<'a>),
    /// So many found no room.
    Lost(u64),
    /// Nothing that is used here.
    Other,
}

/// Understands one record.
pub fn parse<'a>(bytes: &'a [u8], format: &Format) -> Record<'a> {
    parsed(bytes, format).unwrap_or(Record::Other)
}

fn parsed<'a>(bytes: &'a [u8], format: &Format) -> Option<Record<'a>> {
    let kind = u32_at(bytes, 0)?;
    let body = bytes.get(HEADER_BYTES..)?;
    match kind {
        sys::PERF_RECORD_SAMPLE => request(body, format).map(Record::Request),
        sys::PERF_RECORD_LOST => u64_at(body, 8).map(Record::Lost),
        _ => None,
    }
}

/// The body has process and thread, the time, then the length of the fields and the fields.
fn request<'a>(body: &'a [u8], format: &Format) -> Option<Request<'a>> {
    let length = usize::try_from(u32_at(body, 16)?).ok()?;
    let fields = body.get(20..)?.get(..length)?;
    let dev = u32_at(fields, format.dev)?;
    let letters = fields.get(format.rwbs.offset..)?.get(..format.rwbs.size)?;
    let letters = letters.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(Request {
        time_ns: u64_at(body, 8)? as i64,
        pid: u32_at(body, 0)?,
        tid: u32_at(body, 4)?,
        dev: (dev >> MINOR_BITS, dev & ((1 << MINOR_BITS) - 1)),
        sector: u64_at(fields, format.sector)?,
        bytes: u64::from(u32_at(fields, format.bytes)?),
        rwbs: std::str::from_utf8(letters).ok()?,
    })
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(place..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(place..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::format::Letters;
    use super::*;

    const FORMAT: Format =
        Format { id: 1, dev: 8, sector: 16, bytes: 28, rwbs: Letters { offset: 34, size: 10 } };

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(body);
        bytes
    }

    fn body() -> Vec<u8> {
        let mut fields = vec![0_u8; 60];
        fields[8..12].copy_from_slice(&(254_u32 << 20 | 3).to_ne_bytes());
        fields[16..24].copy_from_slice(&4096_u64.to_ne_bytes());
        fields[28..32].copy_from_slice(&8192_u32.to_ne_bytes());
        fields[34..36].copy_from_slice(b"RA");
        let mut body = [7_u32.to_ne_bytes(), 8_u32.to_ne_bytes()].concat();
        body.extend(99_u64.to_ne_bytes());
        body.extend(60_u32.to_ne_bytes());
        body.extend(fields);
        body
    }

    #[test]
    fn a_request_has_its_place_and_kind() {
        let expected = Request {
            time_ns: 99,
            pid: 7,
            tid: 8,
            dev: (254, 3),
            sector: 4096,
            bytes: 8192,
            rwbs: "RA",
        };
        let bytes = record(sys::PERF_RECORD_SAMPLE, &body());
        assert_eq!(parse(&bytes, &FORMAT), Record::Request(expected));
    }

    #[test]
    fn what_found_no_room_is_counted() {
        let lost = [1_u64.to_ne_bytes(), 12_u64.to_ne_bytes()].concat();
        assert_eq!(parse(&record(sys::PERF_RECORD_LOST, &lost), &FORMAT), Record::Lost(12));
    }

    #[test]
    fn a_torn_record_is_none() {
        let whole = record(sys::PERF_RECORD_SAMPLE, &body());
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length], &FORMAT), Record::Other);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes: Vec<u8>, kind in 0_u32..20) {
            parse(&bytes, &FORMAT);
            parse(&record(kind, &bytes), &FORMAT);
        }
    }
}
