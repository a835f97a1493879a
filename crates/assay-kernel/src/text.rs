//! Reading numbers out of the kernel's text. Everything takes bytes, because a process may give
//! itself any name, and nothing panics.

use std::path::Path;

use crate::KernelError;

/// Longest part of a bad line that an error shows.
const LINE_SHOWN_BYTES: usize = 200;
const KIBIBYTE: u64 = 1024;

/// Non-empty lines.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// Words between white space.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A decimal number without sign that fits.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A number as C prints it with `0x` before it.
pub fn hexadecimal(word: &[u8]) -> Option<u64> {
    let digits = word.strip_prefix(b"0x").filter(|digits| !digits.starts_with(b"+"))?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The words behind `key:` in a text of such lines.
pub fn words_of<'a>(text: &'a [u8], key: &str) -> Option<impl Iterator<Item = &'a [u8]>> {
    let after = |line: &'a [u8]| line.strip_prefix(key.as_bytes())?.strip_prefix(b":");
    lines(text).find_map(after).map(words)
}

/// A line of a file: where a number is taken from, and what an error is about.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// The file that it is in.
    pub path: &'a Path,
    /// The line without its end.
    pub text: &'a [u8],
}

impl Line<'_> {
    /// The word as a number of units, each worth `unit`.
    pub fn scaled(&self, field: &str, word: Option<&[u8]>, unit: u64) -> Result<u64, KernelError> {
        word.and_then(number)
            .and_then(|value| value.checked_mul(unit))
            .ok_or_else(|| self.bad(field))
    }

    /// The word as a hexadecimal number.
    pub fn hexadecimal(&self, field: &str, word: Option<&[u8]>) -> Result<u64, KernelError> {
        word.and_then(hexadecimal).ok_or_else(|| self.bad(field))
    }

    /// As `scaled`, for a word that older kernels do not print.
    pub fn scaled_if_there(
        &self,
        field: &str,
        word: Option<&[u8]>,
        unit: u64,
    ) -> Result<Option<u64>, KernelError> {
        word.map(|word| self.scaled(field, Some(word), unit)).transpose()
    }

    /// The error of a field that is no number.
    pub fn bad(&self, field: &str) -> KernelError {
        let shown = &self.text[..self.text.len().min(LINE_SHOWN_BYTES)];
        KernelError::BadField {
            path: self.path.to_owned(),
            field: field.to_owned(),
            line: String::from_utf8_lossy(shown).into_owned(),
        }
    }
}

/// Where a key's value goes; `None` for a key that is not kept.
pub type Slot<T> = for<'a> fn(&'a mut T, &[u8]) -> Option<&'a mut Option<u64>>;

/// Fills `T` from lines of the form `key value`, `key: value` or `key: value kB`; kB become bytes.
pub fn fill<T: Default>(path: &Path, text: &[u8], slot: Slot<T>) -> Result<T, KernelError> {
    let mut filled = T::default();
    for line in lines(text) {
        let mut fields = words(line);
        let key = fields.next().unwrap_or_default();
        let key = key.strip_suffix(b":").unwrap_or(key);
        if let Some(place) = slot(&mut filled, key) {
            let value = fields.next();
            let unit = if fields.next() == Some(b"kB") { KIBIBYTE } else { 1 };
            let field = String::from_utf8_lossy(key);
            *place = Some(Line { path, text: line }.scaled(&field, value, unit)?);
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_that_fit() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for bad in [&b""[..], b"18446744073709551616", b"-1", b"+1", b"1.5", b"0x1", b"\xff"] {
            assert_eq!(number(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_error_names_path_field_and_line() {
        let line = Line { path: Path::new("/proc/vmstat"), text: b"pgfault many" };
        let error = line.scaled("pgfault", Some(b"many"), 1).unwrap_err().to_string();
        assert_eq!(error, "/proc/vmstat: cannot read pgfault as a number in line \"pgfault many\"");
    }

    #[test]
    fn a_product_that_does_not_fit_is_an_error() {
        let line = Line { path: Path::new("meminfo"), text: b"" };
        assert!(line.scaled("MemTotal", Some(b"18446744073709551615"), 1024).is_err());
    }
}
