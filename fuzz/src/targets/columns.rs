//! Takes the first bytes of an input as choices of what the rest is.

/// The first byte and the rest; 0 and nothing of an empty input.
pub fn choice(bytes: &[u8]) -> (usize, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest))
}

/// Choices behind their number, of at most `most`, and the rest.
pub fn choices(bytes: &[u8], most: usize) -> (&[u8], &[u8]) {
    let (count, rest) = choice(bytes);
    rest.split_at((count % (most + 1)).min(rest.len()))
}
