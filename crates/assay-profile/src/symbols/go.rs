//! Functions of Go programs by `.gopclntab`, which their runtime needs and stripping leaves. Its
//! form is that of Go 1.18 and later; Go's source describes it in `runtime/symtab.go`.

use object::{File, Object, ObjectSection};

use super::{Symbol, SymbolKind};

const MAGIC_1_18: u32 = 0xffff_fff0;
const MAGIC_1_20: u32 = 0xffff_fff1;
const SECTIONS: [&str; 2] = [".gopclntab", ".data.rel.ro.gopclntab"];
/// Where `runtime.moduledata`, which begins with the address of the table, has that of the code.
const MODULE_TEXT_AT: u64 = 176;
const TEXT_WORD: usize = 2;
const NAMES_WORD: usize = 3;
const FUNCTIONS_WORD: usize = 7;
const WORD_BYTES: usize = 8;
const WORDS_AT: usize = 8;
const ENTRY_BYTES: usize = 8;

/// The functions of a Go program.
pub struct GoFunctions<'d> {
    text_start: u64,
    names: &'d [u8],
    /// Pairs of an offset of code and one of a description in `functions` itself, and a last offset.
    functions: &'d [u8],
    count: usize,
}

impl<'d> GoFunctions<'d> {
    pub(super) fn read(elf: &File<'d>) -> Option<Self> {
        let section = SECTIONS.iter().find_map(|name| elf.section_by_name(name))?;
        Self::parse(section.data().ok()?, text_start(elf, section.address())?)
    }

    /// From the bytes of the table of a 64-bit little-endian program, and the address that its
    /// offsets count from; none if it is not one of Go 1.18 or later.
    pub fn parse(table: &'d [u8], text_start: u64) -> Option<Self> {
        let magic = u32_at(table, 0)?;
        if ![MAGIC_1_18, MAGIC_1_20].contains(&magic) || table.get(7) != Some(&(WORD_BYTES as u8)) {
            return None;
        }
        let count = usize::try_from(word_at(table, 0)?).ok()?;
        let functions = part(table, FUNCTIONS_WORD)?;
        let entries_bytes = count.checked_mul(ENTRY_BYTES)?.checked_add(4)?;
        functions.get(..entries_bytes)?;
        Some(Self { text_start, names: part(table, NAMES_WORD)?, functions, count })
    }

    /// The function that covers `address`.
    pub fn symbol(&self, address: u64) -> Option<Symbol> {
        let offset = u32::try_from(address.checked_sub(self.text_start)?).ok()?;
        let index = self.behind(offset)?.checked_sub(1)?;
        let (start, end) = (self.code_offset(index)?, self.code_offset(index + 1)?);
        if !(start..end).contains(&offset) {
            return None;
        }
        let name = self.name(index)?;
        let at = |offset: u32| self.text_start.checked_add(offset.into());
        Some(Symbol::new(name, SymbolKind::Go, at(start)?, at(end)?))
    }

    /// How many functions start at or before `offset`.
    fn behind(&self, offset: u32) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            if self.code_offset(middle)? <= offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    fn code_offset(&self, index: usize) -> Option<u32> {
        u32_at(self.functions, index * ENTRY_BYTES)
    }

    fn name(&self, index: usize) -> Option<String> {
        let description = u32_at(self.functions, index * ENTRY_BYTES + 4)? as usize;
        let name_at = u32_at(self.functions, description.checked_add(4)?)? as usize;
        let name = self.names.get(name_at..)?.split(|byte| *byte == 0).next()?;
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
    }
}

/// Where the code starts that Go compiled: by the table until Go 1.25, by the runtime's description
/// of the program since. Without either it is the section's start, as where nothing else is linked.
fn text_start(elf: &File, table: u64) -> Option<u64> {
    let word = (WORDS_AT + TEXT_WORD * WORD_BYTES) as u64;
    let in_table = pointer(elf, table.checked_add(word)?);
    let in_module = || {
        let module = elf.section_by_name(".go.module")?.address();
        let is_of_table = pointer(elf, module)? == table;
        is_of_table.then(|| pointer(elf, module.checked_add(MODULE_TEXT_AT)?)).flatten()
    };
    in_table
        .filter(|address| *address != 0)
        .or_else(in_module)
        .or_else(|| elf.section_by_name(".text").map(|section| section.address()))
}

/// The pointer at `address`, as it is once relocated.
fn pointer(elf: &File, address: u64) -> Option<u64> {
    let stored = elf.sections().find_map(|section| {
        let bytes = section.data_range(address, WORD_BYTES as u64).ok()??;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    })?;
    if stored != 0 {
        return Some(stored);
    }
    let mut relocations = elf.dynamic_relocations()?;
    let relocation = relocations.find(|(at, _)| *at == address);
    Some(relocation.map_or(0, |(_, relocation)| relocation.addend().cast_unsigned()))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn word_at(table: &[u8], index: usize) -> Option<u64> {
    let at = WORDS_AT + index * WORD_BYTES;
    Some(u64::from_le_bytes(table.get(at..at + WORD_BYTES)?.try_into().ok()?))
}

/// The part of the table whose offset is the header's word `index`.
fn part(table: &[u8], index: usize) -> Option<&[u8]> {
    table.get(usize::try_from(word_at(table, index)?).ok()?..)
}
