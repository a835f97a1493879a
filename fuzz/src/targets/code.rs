//! Records of the kernel's rings, object files, and lists of functions.

use assay_profile::foreign::{read_request_record, read_sample_record, unwind};
use assay_profile::symbols::{
    GoFunctions, Symbol, demangled, resolve_elf, resolve_kallsyms, resolve_perf_map,
};
use object::{Object, ObjectSection, ObjectSymbol};

/// Addresses of one file that are looked up.
const ADDRESSES_MAX: usize = 32;
/// Bytes at the end of an input that are a stack.
const STACK_BYTES: usize = 512;
/// The record of a sample, by the number of its kind.
const SAMPLE: u32 = 9;

/// A record of samples: as it is, and as the body of a sample.
pub fn perf_records(bytes: &[u8]) {
    let sample = [&SAMPLE.to_ne_bytes(), [0; 4].as_slice(), bytes].concat();
    for copies in [false, true] {
        read_sample_record(bytes, copies);
        read_sample_record(&sample, copies);
    }
}

/// The text of a tracepoint's format, a zero, then a record.
pub fn request_records(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let record = bytes.get(end + 1..).unwrap_or_default();
    read_request_record(&String::from_utf8_lossy(&bytes[..end]), record);
}

/// An object file, then a stack.
pub fn unwind_tables(bytes: &[u8]) {
    let (file, stack) = bytes.split_at(bytes.len().saturating_sub(STACK_BYTES));
    unwind(file, stack);
}

/// An object file with names.
pub fn object_files(bytes: &[u8]) {
    let addresses = addresses(bytes);
    assert_eq!(resolve_elf(bytes, None, &addresses).len(), addresses.len());
}

/// An object file as the separate debug file of itself.
pub fn debug_files(bytes: &[u8]) {
    let addresses = addresses(bytes);
    assert_eq!(resolve_elf(bytes, Some(bytes), &addresses).len(), addresses.len());
}

/// Addresses that an object file says hold something, and some that it does not.
fn addresses(bytes: &[u8]) -> Vec<u64> {
    let mut addresses = vec![0, 0x1000, 0x40_1000, u64::MAX];
    if let Ok(file) = object::File::parse(bytes) {
        addresses.push(file.entry());
        addresses.extend(file.sections().take(ADDRESSES_MAX / 2).map(|section| section.address()));
        addresses.extend(file.symbols().take(ADDRESSES_MAX / 2).map(|symbol| symbol.address()));
    }
    addresses.truncate(ADDRESSES_MAX);
    addresses
}

/// Eight bytes of an address, then a list of functions.
pub fn function_names(bytes: &[u8]) {
    let Some((address, text)) = bytes.split_first_chunk() else { return };
    let addresses = [u64::from_le_bytes(*address), 0, u64::MAX];
    assert_eq!(resolve_kallsyms(text, &addresses).symbols.len(), addresses.len());
    assert_eq!(resolve_perf_map(text, &addresses).len(), addresses.len());
    for name in text.split(u8::is_ascii_whitespace).take(8) {
        assert!(name.is_empty() || !demangled(name).is_empty());
    }
}

/// Eight bytes of an address, then a table of Go's linker.
pub fn go_tables(bytes: &[u8]) {
    let Some((address, table)) = bytes.split_first_chunk() else { return };
    let address = u64::from_le_bytes(*address);
    for start in [0, 0x40_1000, address] {
        let Some(functions) = GoFunctions::parse(table, start) else { continue };
        for place in [start, start.wrapping_add(1), address] {
            if let Some(Symbol { start: Some(first), size_bytes: Some(size), .. }) =
                functions.symbol(place)
            {
                assert!((first..first.saturating_add(size)).contains(&place));
            }
        }
    }
}
