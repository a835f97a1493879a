//! Stubs through which a file calls functions of others. They have no symbols; the slot that each
//! jumps through has, by its relocation, the name of what it calls.

use std::collections::HashMap;

use object::{Architecture, File, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable};
use object::{RelocationTarget, SymbolIndex};

use super::{Symbol, SymbolKind};

const SECTIONS: [&str; 4] = [".plt", ".plt.sec", ".plt.got", ".iplt"];
const STUB_BYTES_MAX: u64 = 16;

/// The stubs of a file.
pub(super) struct Stubs<'f> {
    /// By start.
    stubs: Vec<Stub<'f>>,
}

struct Stub<'f> {
    start: u64,
    end: u64,
    name: &'f [u8],
}

impl<'f> Stubs<'f> {
    pub fn read(file: &'f File) -> Self {
        let decode = match file.architecture() {
            Architecture::X86_64 => jumps_x86_64,
            Architecture::Aarch64 => jumps_aarch64,
            _ => return Self { stubs: Vec::new() },
        };
        let names = names_by_slot(file);
        let mut stubs = Vec::new();
        for section in SECTIONS.iter().filter_map(|name| file.section_by_name(name)) {
            let (Ok(code), address) = (section.data(), section.address()) else { continue };
            let section_end = address.saturating_add(code.len() as u64);
            for Jump { start, slot } in decode(code, address) {
                let end = start.saturating_add(STUB_BYTES_MAX).min(section_end);
                if let Some(name) = names.get(&slot) {
                    stubs.push(Stub { start, end, name });
                }
            }
        }
        stubs.sort_unstable_by_key(|stub| stub.start);
        for index in 1..stubs.len() {
            stubs[index - 1].end = stubs[index - 1].end.min(stubs[index].start);
        }
        Self { stubs }
    }

    pub fn symbol(&self, address: u64) -> Option<Symbol> {
        let behind = self.stubs.partition_point(|stub| stub.start <= address);
        let stub = self.stubs[..behind].last().filter(|stub| address < stub.end)?;
        let name = format!("{}@plt", super::demangled(stub.name));
        Some(Symbol::new(name, SymbolKind::Dynamic, stub.start, stub.end))
    }
}

/// Names of functions by the address of the slot that gets theirs.
fn names_by_slot<'f>(file: &'f File) -> HashMap<u64, &'f [u8]> {
    let (Some(relocations), Some(symbols)) =
        (file.dynamic_relocations(), file.dynamic_symbol_table())
    else {
        return HashMap::new();
    };
    let name = |index: SymbolIndex| {
        let name = symbols.symbol_by_index(index).ok()?.name_bytes().ok()?;
        (!name.is_empty()).then_some(name)
    };
    relocations
        .filter_map(|(slot, relocation)| match relocation.target() {
            RelocationTarget::Symbol(index) => Some((slot, name(index)?)),
            _ => None,
        })
        .collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Jump {
    start: u64,
    slot: u64,
}

/// Indirect jumps relative to the instruction, with the mark of a branch target before them if
/// there is one.
fn jumps_x86_64(code: &[u8], address: u64) -> Vec<Jump> {
    const JUMP: [u8; 2] = [0xff, 0x25];
    const JUMP_BYTES: usize = 6;
    const BRANCH_TARGET: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const BOUND: u8 = 0xf2;
    let mut jumps = Vec::new();
    let mut at = 0;
    while let Some(jump) = code.get(at..at + JUMP_BYTES) {
        if jump[..2] != JUMP {
            at += 1;
            continue;
        }
        let offset = i32::from_le_bytes([jump[2], jump[3], jump[4], jump[5]]);
        let behind = address.wrapping_add((at + JUMP_BYTES) as u64);
        let before = code[..at].strip_suffix(&[BOUND]).unwrap_or(&code[..at]);
        let before = before.strip_suffix(&BRANCH_TARGET).unwrap_or(before);
        jumps.push(Jump {
            start: address.wrapping_add(before.len() as u64),
            slot: behind.wrapping_add_signed(offset.into()),
        });
        at += JUMP_BYTES;
    }
    jumps
}

/// Pairs of `adrp x16, page` and `ldr x17, [x16, #offset]`.
fn jumps_aarch64(code: &[u8], address: u64) -> Vec<Jump> {
    const PAGE_BYTES: u64 = 4096;
    const PAGE_OF_X16: u32 = 0x9000_0010;
    const LOAD_X17_BY_X16: u32 = 0xf940_0211;
    let words: Vec<u32> = code
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let jump = |(index, pair): (usize, &[u32])| {
        let &[page, load] = pair else { return None };
        if page & 0x9f00_001f != PAGE_OF_X16 || load & 0xffc0_03ff != LOAD_X17_BY_X16 {
            return None;
        }
        let start = address.wrapping_add(4 * index as u64);
        let pages = ((page >> 5) & 0x7_ffff) << 2 | (page >> 29) & 3;
        let pages = i64::from((pages << 11).cast_signed() >> 11);
        let base = (start & !(PAGE_BYTES - 1)).wrapping_add_signed(pages * PAGE_BYTES as i64);
        let slot = base.wrapping_add(u64::from((load >> 10) & 0xfff) * 8);
        Some(Jump { start, slot })
    };
    words.windows(2).enumerate().filter_map(jump).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_of_x86_64_are_read_with_and_without_marks_of_branch_targets() {
        let marked = b"\xf3\x0f\x1e\xfa\xf2\xff\x25\x10\0\0\0\x0f\x1f\x44\0\0";
        let plain = b"\xff\x25\xf0\xff\xff\xff\x68\0\0\0\0\xe9\0\0\0\0";
        let code = [&marked[..], plain].concat();
        assert_eq!(
            jumps_x86_64(&code, 0x1000),
            [Jump { start: 0x1000, slot: 0x101b }, Jump { start: 0x1010, slot: 0x1006 }]
        );
    }

    #[test]
    fn stubs_of_aarch64_are_read() {
        // adrp x16, 0x20000; ldr x17, [x16, #0x18]; add x16, x16, #0x18; br x17; at 0x10010
        let words = [0x9000_0090_u32, 0xf940_0e11, 0x9100_6210, 0xd61f_0220];
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(jumps_aarch64(&code, 0x10010), [Jump { start: 0x10010, slot: 0x20018 }]);
    }
}
