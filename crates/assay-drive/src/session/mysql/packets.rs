//! Packets: three bytes of length, a sequence number, a body. A body of 16 MiB or more comes, and is
//! sent, in several, of which all but the last are full.

use crate::session::inbox::{Framing, Garbled, Message};

/// Length and sequence number.
pub const HEADER_BYTES: usize = 4;
/// A packet as long as this goes on in the next one.
pub const FULL_BYTES: usize = 0xff_ffff;
/// First byte of an error.
pub const ERR: u8 = 0xff;
/// A body that is longer than this is none.
const BODY_BYTES_MAX: usize = 1 << 30;

/// Cuts what comes into packets; the tag of a message is its sequence number.
#[derive(Debug, Default)]
pub struct Packets {
    /// The sequence number that is due.
    due: u8,
    /// Bodies that came in several packets: where they begin and end in the buffer.
    joined: Vec<(usize, usize)>,
}

impl Packets {
    /// The next packet has this number.
    pub const fn expect(&mut self, number: u8) {
        self.due = number;
    }
}

fn header(bytes: &[u8], place: usize) -> Option<(usize, u8)> {
    let header = bytes.get(place..place + HEADER_BYTES)?;
    Some((
        usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16,
        header[3],
    ))
}

impl Framing for Packets {
    fn next(
        &mut self,
        bytes: &mut [u8],
        filled: &mut usize,
        place: usize,
    ) -> Result<Option<Message>, Garbled> {
        let Some((length, tag)) = header(&bytes[..*filled], place) else { return Ok(None) };
        let begin = place + HEADER_BYTES;
        if length == FULL_BYTES {
            return self.join(bytes, filled, place);
        }
        let end = begin + length;
        if end > *filled {
            return Ok(None);
        }
        // Who closes a line says so at any time, with a number of its own.
        if tag != self.due && bytes[begin..end].first() != Some(&ERR) {
            return Err(Garbled { tag, length: length as i32 });
        }
        self.due = tag.wrapping_add(1);
        Ok(Some(Message { tag, begin, end }))
    }

    fn again(&self, bytes: &[u8], place: usize) -> Option<Message> {
        let (length, tag) = header(bytes, place)?;
        let begin = place + HEADER_BYTES;
        let end = if length == FULL_BYTES {
            self.joined.iter().find(|(at, _)| *at == place)?.1
        } else {
            begin + length
        };
        (end <= bytes.len()).then_some(Message { tag, begin, end })
    }

    fn clear(&mut self) {
        self.joined.clear();
    }
}

impl Packets {
    /// Puts the parts of a long body together, once all are there.
    fn join(
        &mut self,
        bytes: &mut [u8],
        filled: &mut usize,
        place: usize,
    ) -> Result<Option<Message>, Garbled> {
        let (mut at, mut parts, mut due) = (place, Vec::new(), self.due);
        loop {
            let Some((length, tag)) = header(&bytes[..*filled], at) else { return Ok(None) };
            if tag != due || at - place > BODY_BYTES_MAX {
                return Err(Garbled { tag, length: length as i32 });
            }
            due = due.wrapping_add(1);
            let begin = at + HEADER_BYTES;
            at = begin + length;
            parts.push(begin..at);
            if length < FULL_BYTES {
                break;
            }
        }
        if at > *filled {
            return Ok(None);
        }
        let begin = place + HEADER_BYTES;
        let mut end = begin;
        for part in parts {
            let length = part.len();
            bytes.copy_within(part, end);
            end += length;
        }
        bytes.copy_within(at..*filled, end);
        *filled -= at - end;
        self.due = due;
        self.joined.push((place, end));
        Ok(Some(Message { tag: due.wrapping_sub(1), begin, end }))
    }
}

/// Begins a packet that is sent; `end` fills in how long it became.
pub fn begin(out: &mut Vec<u8>) -> usize {
    let place = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    place
}

/// Ends the packet that was begun at `place`, with the first of its sequence numbers; the next one.
pub fn end(out: &mut Vec<u8>, place: usize, first: u8) -> u8 {
    let (mut at, mut number) = (place, first);
    loop {
        let rest = out.len() - at - HEADER_BYTES;
        let length = rest.min(FULL_BYTES);
        out[at..at + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        out[at + 3] = number;
        number = number.wrapping_add(1);
        if length < FULL_BYTES {
            return number;
        }
        at += HEADER_BYTES + FULL_BYTES;
        out.splice(at..at, [0; HEADER_BYTES]);
    }
}

/// Reads the fields of a body, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

/// A field that is not whole.
pub const SHORT: &str = "a packet that ends too early";

impl<'a> Fields<'a> {
    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// So many bytes as an array.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (bytes, rest) = self.0.split_first_chunk::<N>().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*bytes)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, String> {
        Ok(self.fixed::<1>()?[0])
    }

    /// Two bytes.
    pub fn short(&mut self) -> Result<u16, String> {
        Ok(u16::from_le_bytes(self.fixed()?))
    }

    /// Four bytes.
    pub fn long(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    /// A whole number of one to nine bytes.
    pub fn number(&mut self) -> Result<u64, String> {
        match self.byte()? {
            0xfc => Ok(self.short()?.into()),
            0xfd => {
                let bytes: [u8; 3] = self.fixed()?;
                Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]).into())
            }
            0xfe => Ok(u64::from_le_bytes(self.fixed()?)),
            byte @ (0xfb | 0xff) => Err(format!("{byte:#04x} where a length was due")),
            byte => Ok(byte.into()),
        }
    }

    /// Bytes behind their length.
    pub fn sized(&mut self) -> Result<&'a [u8], String> {
        let length = usize::try_from(self.number()?).map_err(|_| SHORT)?;
        self.bytes(length)
    }
}

/// Writes a whole number of one to nine bytes.
pub fn number(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xfa => out.push(value as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&value.to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Writes bytes behind their length.
pub fn sized(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::inbox::Inbox;
    use proptest::prelude::*;

    fn packet(body: &[u8], first: u8) -> Vec<u8> {
        let mut out = Vec::new();
        let place = begin(&mut out);
        out.extend_from_slice(body);
        end(&mut out, place, first);
        out
    }

    fn inbox() -> Inbox<Packets> {
        let mut inbox: Inbox<Packets> = Inbox::default();
        inbox.framing.expect(1);
        inbox
    }

    #[test]
    fn a_long_body_comes_back_in_one_piece() {
        for length in [FULL_BYTES - 1, FULL_BYTES, FULL_BYTES + 1, 2 * FULL_BYTES + 7] {
            let body: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let sent = packet(&body, 1);
            assert_eq!(sent.len(), length + HEADER_BYTES * (length / FULL_BYTES + 1));
            let mut inbox = inbox();
            let (first, rest) = sent.split_at(FULL_BYTES / 2);
            inbox.feed(first);
            assert_eq!(inbox.take().unwrap(), None);
            inbox.feed(rest);
            let next = (length / FULL_BYTES + 2) as u8;
            inbox.feed(&packet(b"next", next));
            let message = inbox.take().unwrap().unwrap();
            assert!(inbox.body(message) == body);
            let behind = inbox.take().unwrap().unwrap();
            assert_eq!(inbox.body(behind), b"next");
            let again: Vec<usize> = inbox.messages().map(|(_, body)| body.len()).collect();
            assert_eq!(again, [length, 4]);
        }
    }

    #[test]
    fn a_number_that_is_not_due_is_refused_but_of_an_error() {
        let mut inbox = inbox();
        inbox.feed(&packet(b"\x00", 3));
        assert_eq!(inbox.take(), Err(Garbled { tag: 3, length: 1 }));
        let mut inbox = self::inbox();
        inbox.feed(&packet(b"\xff\x10\x04", 0));
        assert!(inbox.take().unwrap().is_some());
        // The first byte of the next packet is none of an empty one.
        let mut inbox = self::inbox();
        inbox.feed(&[0, 0, 0, 3, ERR]);
        assert_eq!(inbox.take(), Err(Garbled { tag: 3, length: 0 }));
    }

    proptest! {
        #[test]
        fn packets_are_the_same_however_the_bytes_come(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..20),
            cuts in proptest::collection::vec(1..60_usize, 1..80),
        ) {
            let sent: Vec<u8> =
                (1..).zip(&bodies).flat_map(|(number, body)| packet(body, number)).collect();
            let (mut inbox, mut seen, mut place) = (inbox(), Vec::new(), 0);
            for cut in cuts.iter().cycle() {
                let end = (place + cut).min(sent.len());
                inbox.feed(&sent[place..end]);
                place = end;
                while let Some(message) = inbox.take().unwrap() {
                    seen.push(inbox.body(message).to_vec());
                }
                if place == sent.len() { break; }
            }
            prop_assert_eq!(&seen, &bodies);
            let again: Vec<Vec<u8>> = inbox.messages().map(|(_, body)| body.to_vec()).collect();
            prop_assert_eq!(again, bodies);
        }

        #[test]
        fn garbage_never_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut inbox = inbox();
            inbox.feed(&bytes);
            while let Ok(Some(_)) = inbox.take() {}
            let mut fields = Fields(&bytes);
            while fields.sized().is_ok() {}
        }

        #[test]
        fn numbers_come_back(value in any::<u64>(), shift in 0..64_u32) {
            let mut out = Vec::new();
            number(&mut out, value >> shift);
            prop_assert_eq!(Fields(&out).number(), Ok(value >> shift));
        }
    }
}
