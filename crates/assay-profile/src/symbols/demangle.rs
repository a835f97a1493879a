//! Names as their languages write them.

use std::fmt::{self, Write};

use rustc_demangle::try_demangle;

/// Templates can make a short mangled name as long as memory allows.
const NAME_BYTES_MAX: usize = 64 * 1024;
/// Nested templates can take memory that grows with a power of their depth.
const PARSE_DEPTH_MAX: u32 = 80;
const LEGACY_HASH: &str = "17h";
const LEGACY_HASH_DIGITS: usize = 16;

/// A symbol's name as C++ or Rust writes it, of Rust without its hash; as it is if it is mangled in
/// neither way.
pub fn demangled(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let name = rust(&text).or_else(|| cpp(&text));
    // Without its hash, nothing is left of a name that is a hash only.
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| text.into_owned())
}

fn rust(name: &str) -> Option<String> {
    if !name.starts_with("_R") && !has_legacy_hash(name) {
        return None;
    }
    let demangled = try_demangle(name).ok()?;
    let mut text = Bounded(String::new());
    write!(text, "{demangled:#}").ok()?;
    Some(text.0)
}

/// Whether an Itanium name ends as those of Rust do, because C++ has the same form otherwise.
fn has_legacy_hash(name: &str) -> bool {
    name.starts_with("_ZN")
        && name.match_indices(LEGACY_HASH).any(|(at, _)| {
            let hash = &name.as_bytes()[at + LEGACY_HASH.len()..];
            hash.len() > LEGACY_HASH_DIGITS
                && hash[..LEGACY_HASH_DIGITS].iter().all(u8::is_ascii_hexdigit)
                && hash[LEGACY_HASH_DIGITS] == b'E'
        })
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let options = cpp_demangle::ParseOptions::default().recursion_limit(PARSE_DEPTH_MAX);
    let symbol = cpp_demangle::Symbol::new_with_options(name, &options).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &cpp_demangle::DemangleOptions::new()).ok()?;
    Some(text.0)
}

/// Text that refuses to grow without end.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > NAME_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_their_languages_write_them() {
        for (mangled, plain) in [
            ("_ZN6duckdb13JoinHashTable5ProbeEv", "duckdb::JoinHashTable::Probe()"),
            ("_ZN6duckdb3RunEi.part.0", "duckdb::Run(int) [clone .part.0]"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.123", "core::fmt::write"),
            ("_RNvNtCs123_5crate3mod3foo", "crate::mod::foo"),
            ("ExecHashJoin", "ExecHashJoin"),
            ("main.(*Table).Scan", "main.(*Table).Scan"),
            ("_Znonsense", "_Znonsense"),
            ("_Rnonsense", "_Rnonsense"),
            ("_ZN17h0123456789abcdefE", "_ZN17h0123456789abcdefE"),
        ] {
            assert_eq!(demangled(mangled.as_bytes()), plain);
        }
    }

    #[test]
    fn a_name_that_would_grow_without_end_stays_mangled() {
        let doubling: String = (0..40).map(|_| "I1ASt4pairE").collect();
        let name = format!("_Z1f{doubling}");
        assert!(demangled(name.as_bytes()).len() <= NAME_BYTES_MAX);
    }
}
