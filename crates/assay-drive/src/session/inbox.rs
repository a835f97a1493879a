//! What the server sends, in one buffer that is parsed in place. Rows stay where they are until
//! the operation is let go, so that they are digested after the clock was read, without a copy.

use super::need::Need;

/// Room that is kept free for the next read.
const ROOM_BYTES: usize = 8 << 10;
/// The least that a buffer which has grown has room for.
const GROWN_BYTES: usize = 4 * ROOM_BYTES;
/// A message that says it is longer than this is none.
const MESSAGE_BYTES_MAX: usize = 1 << 30;
/// Tag and length.
const HEADER_BYTES: usize = 5;

/// One whole message: its tag, and where its body is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// First byte of the message.
    pub tag: u8,
    /// Beginning of the body.
    pub begin: usize,
    /// End of the body.
    pub end: usize,
}

/// The bytes were not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server sent bytes that are no message of its protocol (tag {tag}, length {length})")]
pub struct Garbled {
    /// First byte.
    pub tag: u8,
    /// Length as it was told.
    pub length: i32,
}

/// How a protocol cuts what it sends into messages.
pub trait Framing: Default {
    /// The whole message that begins at `place`, if it is there. Bytes from `place` on may be
    /// moved, so that a body is in one piece; whoever does takes what is cut out off `filled`.
    fn next(
        &mut self,
        bytes: &mut [u8],
        filled: &mut usize,
        place: usize,
    ) -> Result<Option<Message>, Garbled>;

    /// The message that begins at `place` and was found by `next` before.
    fn again(&self, bytes: &[u8], place: usize) -> Option<Message>;

    /// The buffer is about to be cleared.
    fn clear(&mut self) {}
}

/// A tag, then a length that counts itself: PostgreSQL's messages, and those of the bridge.
#[derive(Debug, Default)]
pub struct Tagged;

impl Framing for Tagged {
    fn next(
        &mut self,
        bytes: &mut [u8],
        filled: &mut usize,
        place: usize,
    ) -> Result<Option<Message>, Garbled> {
        message_at(&bytes[..*filled], place)
    }

    fn again(&self, bytes: &[u8], place: usize) -> Option<Message> {
        message_at(bytes, place).ok()?
    }
}

/// The receiving buffer of one connection.
#[derive(Debug, Default)]
pub struct Inbox<F: Framing = Tagged> {
    bytes: Vec<u8>,
    filled: usize,
    parsed: usize,
    need: Need,
    /// How messages are told from each other.
    pub framing: F,
}

impl<F: Framing> Inbox<F> {
    /// Where the next read may write; never empty.
    pub fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.filled < ROOM_BYTES {
            let grown = (self.bytes.len() * 2).max(GROWN_BYTES);
            self.bytes.resize(grown, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// A read wrote this many bytes.
    pub fn received(&mut self, count: usize) {
        self.filled += count;
    }

    /// Adds bytes that came with the connection.
    pub fn feed(&mut self, bytes: &[u8]) {
        while self.bytes.len() - self.filled < bytes.len() {
            let grown = (self.bytes.len() * 2).max(GROWN_BYTES);
            self.bytes.resize(grown, 0);
        }
        self.bytes[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// The next whole message, if it is there.
    pub fn take(&mut self) -> Result<Option<Message>, Garbled> {
        let message = self.framing.next(&mut self.bytes, &mut self.filled, self.parsed)?;
        if let Some(message) = message {
            self.parsed = message.end;
        }
        Ok(message)
    }

    /// The body of a message.
    pub fn body(&self, message: Message) -> &[u8] {
        &self.bytes[message.begin..message.end]
    }

    /// All messages that were parsed since the buffer was cleared.
    pub fn messages(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.messages_within(0, self.parsed)
    }

    /// Messages that were parsed, from the one that begins at `place` to `end`.
    pub fn messages_within(
        &self,
        mut place: usize,
        end: usize,
    ) -> impl Iterator<Item = (u8, &[u8])> {
        std::iter::from_fn(move || {
            let message = self.framing.again(&self.bytes[..end], place)?;
            place = message.end;
            Some((message.tag, self.body(message)))
        })
    }

    /// Bytes that were parsed and are kept.
    pub const fn kept_bytes(&self) -> usize {
        self.parsed
    }

    /// An operation has ended, and its time with it: gives room back that no operation has needed
    /// for long. All that is there stays.
    pub fn settle(&mut self) {
        self.need.note(self.filled);
        if let Some(room) = self.need.ended(self.bytes.len()) {
            self.bytes.truncate(room);
            self.bytes.shrink_to_fit();
        }
    }

    /// Forgets what was parsed; what was not stays.
    pub fn clear(&mut self) {
        self.need.note(self.filled);
        self.framing.clear();
        self.bytes.copy_within(self.parsed..self.filled, 0);
        self.filled -= self.parsed;
        self.parsed = 0;
    }
}

impl Inbox<Tagged> {
    /// A message with its tag and length.
    pub fn whole(&self, message: Message) -> &[u8] {
        &self.bytes[message.begin - HEADER_BYTES..message.end]
    }
}

fn message_at(bytes: &[u8], place: usize) -> Result<Option<Message>, Garbled> {
    let Some(header) = bytes.get(place..place + HEADER_BYTES) else { return Ok(None) };
    let length = i32::from_be_bytes([header[1], header[2], header[3], header[4]]);
    match usize::try_from(length) {
        Ok(size) if (4..MESSAGE_BYTES_MAX).contains(&size) => {
            let end = place + 1 + size;
            let message = Message { tag: header[0], begin: place + HEADER_BYTES, end };
            Ok((end <= bytes.len()).then_some(message))
        }
        _ => Err(Garbled { tag: header[0], length }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::need::OPERATIONS_BEFORE_SHRINKING;
    use super::*;
    use proptest::prelude::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&(body.len() as i32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error() {
        let mut inbox: Inbox = Inbox::default();
        inbox.feed(&[b'D', 0, 0, 0, 3]);
        assert!(inbox.take().is_err());
    }

    #[test]
    fn what_was_not_parsed_survives_clearing() {
        let mut inbox: Inbox = Inbox::default();
        inbox.feed(&message(b'Z', b"I"));
        inbox.feed(b"N\0");
        assert_eq!(inbox.take().unwrap().unwrap().tag, b'Z');
        assert_eq!(inbox.take().unwrap(), None);
        inbox.clear();
        inbox.feed(&[0, 0, 4]);
        assert_eq!(inbox.take().unwrap().unwrap().tag, b'N');
    }

    /// Operations whose answers have a length each; the room that there is afterwards.
    fn room_after(inbox: &mut Inbox, lengths: impl Iterator<Item = usize>) -> usize {
        for length in lengths {
            inbox.clear();
            inbox.feed(&message(b'D', &vec![1; length]));
            assert_eq!(inbox.take().unwrap().unwrap().end, length + HEADER_BYTES);
            inbox.settle();
        }
        inbox.bytes.capacity()
    }

    const LARGE: usize = 4 << 20;
    const MANY: usize = 2 * OPERATIONS_BEFORE_SHRINKING as usize;

    #[test]
    fn room_for_a_large_answer_is_given_back_when_none_is_as_large_for_long() {
        let mut inbox = Inbox::default();
        assert!(room_after(&mut inbox, std::iter::once(LARGE)) >= LARGE);
        let few = OPERATIONS_BEFORE_SHRINKING as usize - 2;
        assert!(room_after(&mut inbox, std::iter::repeat_n(10, few)) >= LARGE);
        assert_eq!(room_after(&mut inbox, std::iter::repeat_n(10, MANY)), GROWN_BYTES);
        assert!(room_after(&mut inbox, std::iter::once(LARGE)) >= LARGE);
    }

    #[test]
    fn room_that_some_operations_need_stays() {
        let lengths = (0..MANY).map(|number| if number % 500 == 1 { LARGE } else { 10 });
        assert!(room_after(&mut Inbox::default(), lengths) >= LARGE);
    }

    #[test]
    fn room_that_is_cleared_within_an_operation_is_needed() {
        let mut inbox: Inbox = Inbox::default();
        for _ in 0..MANY {
            inbox.feed(&message(b'D', &vec![1; 1 << 18]));
            inbox.take().unwrap();
            inbox.clear();
            inbox.settle();
        }
        assert!(inbox.bytes.capacity() >= 1 << 18);
    }

    #[test]
    fn what_is_there_stays_when_room_is_given_back() {
        let mut inbox: Inbox = Inbox::default();
        room_after(&mut inbox, std::iter::once(LARGE));
        room_after(&mut inbox, std::iter::repeat_n(10, MANY));
        inbox.clear();
        inbox.feed(&message(b'D', b"whole"));
        inbox.feed(b"Z\0");
        for _ in 0..MANY {
            inbox.settle();
        }
        let whole = inbox.take().unwrap().unwrap();
        assert_eq!(inbox.body(whole), b"whole");
        inbox.feed(&[0, 0, 4]);
        assert_eq!(inbox.take().unwrap().unwrap().tag, b'Z');
    }

    proptest! {
        #[test]
        fn messages_are_the_same_however_the_bytes_come(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..20),
            cuts in proptest::collection::vec(1..60_usize, 1..80),
        ) {
            let sent: Vec<u8> = bodies.iter().flat_map(|body| message(b'D', body)).collect();
            let (mut inbox, mut seen, mut place) = (<Inbox>::default(), Vec::new(), 0);
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
            let mut inbox: Inbox = Inbox::default();
            inbox.feed(&bytes);
            while let Ok(Some(_)) = inbox.take() {}
        }
    }
}
