//! Words of a file's data as they are once it is loaded.

use std::ops::Range;

use object::elf;
use object::{Architecture, File, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable};
use object::{ObjectKind, RelocationFlags, RelocationTarget, SectionFlags, SectionKind};

pub(super) const WORD_BYTES: u64 = 8;
const LOADED: u64 = elf::SHF_ALLOC as u64;
const WRITTEN: u64 = elf::SHF_WRITE as u64;
const EXECUTABLE: u64 = elf::SHF_EXECINSTR as u64;

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'f> {
    /// A number, or an address as the file gives it.
    Value(u64),
    /// The address that much behind a symbol of another file, or a copy of what is there.
    Foreign { name: &'f [u8], offset: i64 },
}

/// The data of a file.
pub(super) struct Words<'f> {
    sections: Vec<Section<'f>>,
    /// By address; what the loader writes there.
    relocated: Vec<(u64, Word<'f>)>,
    code: Vec<Range<u64>>,
}

struct Section<'f> {
    address: u64,
    bytes: &'f [u8],
    may_point: bool,
}

/// Types of relocation, by machine.
struct Relocations {
    relative: u32,
    absolute: u32,
    copy: u32,
}

impl<'f> Words<'f> {
    /// Of 64-bit little-endian programs and libraries.
    pub fn read(file: &'f File) -> Option<Self> {
        let types = match file.architecture() {
            Architecture::X86_64 => Relocations {
                relative: elf::R_X86_64_RELATIVE,
                absolute: elf::R_X86_64_64,
                copy: elf::R_X86_64_COPY,
            },
            Architecture::Aarch64 => Relocations {
                relative: elf::R_AARCH64_RELATIVE,
                absolute: elf::R_AARCH64_ABS64,
                copy: elf::R_AARCH64_COPY,
            },
            _ => return None,
        };
        if !file.is_64() || !file.is_little_endian() {
            return None;
        }
        let (mut sections, mut code) = (Vec::new(), Vec::new());
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let address = section.address();
            if sh_flags & LOADED == 0 || section.kind() == SectionKind::Tls {
                continue;
            }
            if sh_flags & EXECUTABLE != 0 {
                code.push(address..address.saturating_add(section.size()));
            } else if let Ok(bytes) = section.data() {
                let is_fixed = file.kind() == ObjectKind::Executable;
                let may_point = sh_flags & WRITTEN != 0 || is_fixed;
                let may_point = may_point && address % WORD_BYTES == 0;
                sections.push(Section { address, bytes, may_point });
            }
        }
        Some(Self { sections, relocated: relocated(file, &types), code })
    }

    pub fn at(&self, address: u64) -> Option<Word<'f>> {
        let index = self.relocated.partition_point(|(at, _)| *at < address);
        match self.relocated.get(index) {
            Some((at, word)) if *at == address => Some(*word),
            _ => Some(Word::Value(word(self.bytes(address)?)?)),
        }
    }

    /// The address or number at `address`.
    pub fn value(&self, address: u64) -> Option<u64> {
        match self.at(address)? {
            Word::Value(value) => Some(value),
            Word::Foreign { .. } => None,
        }
    }

    /// The data from `address` up to the end of its section.
    pub fn bytes(&self, address: u64) -> Option<&'f [u8]> {
        self.sections.iter().find_map(|section| {
            let offset = usize::try_from(address.checked_sub(section.address)?).ok()?;
            section.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
        })
    }

    pub fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|range| range.contains(&address))
    }

    /// Where `sought`, which are sorted, are pointed to: address of the word and what it holds.
    pub fn pointers_to(&self, sought: &[u64]) -> Vec<(u64, u64)> {
        let (Some(first), Some(last)) = (sought.first(), sought.last()) else { return Vec::new() };
        let is_sought =
            |value: &u64| (first..=last).contains(&value) && sought.binary_search(value).is_ok();
        let mut pointers = Vec::new();
        for section in self.sections.iter().filter(|section| section.may_point) {
            let words = section.bytes.chunks_exact(WORD_BYTES as usize);
            // A file may give an address so high that its words would lie behind the last one.
            let addresses =
                (0..).map_while(|at: u64| section.address.checked_add(at.checked_mul(WORD_BYTES)?));
            let stored = addresses.zip(words.filter_map(word));
            pointers.extend(stored.filter(|(_, value)| is_sought(value)));
        }
        let relocated = self.relocated.iter().filter_map(|(address, word)| match word {
            Word::Value(value) => Some((*address, *value)),
            Word::Foreign { .. } => None,
        });
        pointers.extend(relocated.filter(|(_, value)| is_sought(value)));
        pointers.sort_unstable();
        pointers.dedup();
        pointers
    }
}

fn word(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.first_chunk()?))
}

/// What the loader writes. Packed relative relocations (`.relr.dyn`) are not read: what they
/// relocate is in the data already.
fn relocated<'f>(file: &'f File, types: &Relocations) -> Vec<(u64, Word<'f>)> {
    let Some(relocations) = file.dynamic_relocations() else { return Vec::new() };
    let symbols = file.dynamic_symbol_table();
    let mut words: Vec<_> = relocations
        .filter_map(|(address, relocation)| {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
            let offset = relocation.addend();
            if r_type == types.relative {
                return Some((address, Word::Value(offset.cast_unsigned())));
            }
            if r_type != types.absolute && r_type != types.copy {
                return None;
            }
            let RelocationTarget::Symbol(index) = relocation.target() else { return None };
            let symbol = symbols.as_ref()?.symbol_by_index(index).ok()?;
            let word = if symbol.is_undefined() || r_type == types.copy {
                Word::Foreign { name: symbol.name_bytes().ok()?, offset }
            } else {
                Word::Value(symbol.address().wrapping_add_signed(offset))
            };
            Some((address, word))
        })
        .collect();
    words.sort_by_key(|(address, _)| *address);
    words
}
