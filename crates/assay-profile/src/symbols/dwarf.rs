//! Names by debug information, of files that have it and no symbol table.

use std::borrow::Cow;

use addr2line::{Context, LookupResult};
use gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{File, Object, ObjectSection, Section};

use super::demangle::demangled;
use super::{Symbol, SymbolKind};

/// Debug information becomes some times smaller by compression; a file may state any size.
const COMPRESSION_MAX: u64 = 100;

type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// Gives `symbols` without a name that of the function that debug information has at their address.
pub(super) fn name(elf: &File, addresses: &[u64], symbols: &mut [Symbol]) {
    if elf.section_by_name(".debug_info").is_none() {
        return;
    }
    let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let sections = DwarfSections::load(|id| Ok::<_, gimli::Error>(bytes(elf, id)));
    let Ok(sections) = sections else { return };
    let dwarf = sections.borrow(|bytes| EndianSlice::new(bytes, endian));
    let Ok(context) = Context::from_dwarf(dwarf) else { return };
    for (symbol, address) in symbols.iter_mut().zip(addresses) {
        if symbol.name.is_none()
            && let Some(name) = function(&context, *address)
        {
            symbol.name = Some(name);
            symbol.kind = SymbolKind::Debug;
        }
    }
}

fn bytes<'d>(elf: &File<'d>, id: SectionId) -> Cow<'d, [u8]> {
    let section = elf.section_by_name(id.name());
    section.and_then(|section| decompressed(&section)).unwrap_or_default()
}

/// The data of a section; `None` if it says that it is larger than debug information gets.
fn decompressed<'d>(section: &Section<'d, '_>) -> Option<Cow<'d, [u8]>> {
    let data = section.compressed_data().ok()?;
    let size_max = (data.data.len() as u64).saturating_mul(COMPRESSION_MAX);
    if data.uncompressed_size > size_max { None } else { data.decompress().ok() }
}

/// The function that was compiled as such: functions that were inlined into it have no bounds.
fn function(context: &Context<Slice>, address: u64) -> Option<String> {
    let LookupResult::Output(frames) = context.find_frames(address) else { return None };
    let mut frames = frames.ok()?;
    let mut outermost = None;
    while let Some(frame) = frames.next().ok()? {
        outermost = frame.function.or(outermost);
    }
    Some(demangled(&outermost?.name))
}
