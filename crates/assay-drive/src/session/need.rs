//! How much room the results of a session need, and when room is given back.

/// The least room that is kept.
const ROOM_BYTES_MIN: usize = 32 << 10;
/// So many operations in a row have to need far less room than there is before some is given back:
/// growing again is time of the operation that needs it.
pub(crate) const OPERATIONS_BEFORE_SHRINKING: u32 = 1000;
/// Room is given back where there is this many times as much as was needed.
const EXCESS: usize = 4;

/// The most room that operations have needed lately.
#[derive(Debug, Default)]
pub struct Need {
    most_bytes: usize,
    operations: u32,
}

impl Need {
    /// So much is filled now.
    pub fn note(&mut self, filled_bytes: usize) {
        self.most_bytes = self.most_bytes.max(filled_bytes);
    }

    /// An operation has ended, and there is room for so many bytes; what it is to be shrunk to.
    /// `None`: there is not too much, or this is not known yet.
    pub fn ended(&mut self, room_bytes: usize) -> Option<usize> {
        self.operations += 1;
        if self.operations < OPERATIONS_BEFORE_SHRINKING {
            return None;
        }
        let needed = std::mem::take(self).most_bytes;
        let is_excess = room_bytes > EXCESS * needed.max(ROOM_BYTES_MIN);
        is_excess.then(|| (2 * needed).max(ROOM_BYTES_MIN))
    }
}
