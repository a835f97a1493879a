//! Short texts that are written often.

/// A text of at most `SIZE` bytes. Copying all of them, of which what follows overwrites the end,
/// takes a few instructions; copying as many as it has takes a call.
#[derive(Clone, Copy, Debug)]
pub struct Padded<const SIZE: usize> {
    bytes: [u8; SIZE],
    length: usize,
}

impl<const SIZE: usize> Padded<SIZE> {
    /// The text.
    ///
    /// # Panics
    ///
    /// If it is longer than that.
    pub const fn new(text: &str) -> Self {
        Self::of(text.as_bytes())
    }

    /// The text of these bytes. Panics as `new`.
    pub const fn of(text: &[u8]) -> Self {
        assert!(text.len() <= SIZE, "the text has no room");
        let mut bytes = [0; SIZE];
        let mut place = 0;
        while place < text.len() {
            bytes[place] = text[place];
            place += 1;
        }
        Self { bytes, length: text.len() }
    }

    /// Adds the text to a buffer.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }
}
