//! Readers of foreign bytes are total: whatever the bytes, they answer and do not panic.

use std::fs;
use std::ops::Range;
use std::sync::LazyLock;

use crate::workshop::{Workshop, addresses};
use assay_profile::symbols::{
    GoFunctions, Symbol, SymbolKind, demangled, resolve_elf, resolve_kallsyms, resolve_perf_map,
};
use object::{Object, ObjectSection};
use proptest::collection::vec;
use proptest::prelude::*;

const TEXT_START: u64 = 0x40_1000;
const CASES: u32 = 64;

/// Few cases, for each reads a whole program, or as many as `PROPTEST_CASES` says.
fn as_many_as_asked() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig::with_cases(asked.and_then(|text| text.parse().ok()).unwrap_or(CASES))
}

/// A program with all that is read of one.
struct Program {
    bytes: Vec<u8>,
    addresses: Vec<u64>,
}

impl Program {
    fn stripped_with_packed_symbols_and_a_go_table() -> Self {
        let workshop = Workshop::new();
        let mut packed = Vec::new();
        let program = fs::read(workshop.program()).unwrap();
        lzma_rs::xz_compress(&mut &program[..], &mut packed).unwrap();
        let mut options = vec!["--strip-all".to_owned()];
        for (section, bytes) in [(".gnu_debugdata", packed), (".gopclntab", go_example())] {
            fs::write(workshop.path(section), bytes).unwrap();
            let path = workshop.path(section);
            options.push(format!("--add-section={section}={}", path.display()));
        }
        workshop.objcopy(
            &options.iter().map(String::as_str).collect::<Vec<_>>(),
            "sample",
            "packed",
        );
        Self::at(&workshop, "packed")
    }

    fn with_debug_information() -> Self {
        let workshop = Workshop::new();
        workshop.objcopy(&["--strip-all", "--keep-section=.debug_*"], "sample", "dwarf");
        Self::at(&workshop, "dwarf")
    }

    fn stripped_with_classes() -> Self {
        let workshop = Workshop::with_classes(&["-shared", "-fPIC"]);
        workshop.stripped();
        Self::at(&workshop, "stripped")
    }

    fn at(workshop: &Workshop, name: &str) -> Self {
        let path = workshop.path(name);
        let sections = [".text", ".plt", ".plt.sec", ".plt.got", ".init"];
        let addresses = sections.iter().flat_map(|section| addresses(&path, section, 8)).collect();
        Self { bytes: fs::read(path).unwrap(), addresses }
    }

    fn resolve(&self, bytes: &[u8]) {
        let symbols = resolve_elf(bytes, None, &self.addresses);
        assert_eq!(symbols.len(), self.addresses.len());
        let _ = resolve_elf(&self.bytes, Some(bytes), &self.addresses);
    }
}

static PROGRAMS: LazyLock<[Program; 3]> = LazyLock::new(|| {
    [
        Program::stripped_with_packed_symbols_and_a_go_table(),
        Program::with_debug_information(),
        Program::stripped_with_classes(),
    ]
});

/// A table as Go writes it, of functions in the order of their code.
fn go_table(functions: &[(u32, &str)], end: u32) -> Vec<u8> {
    let mut names = Vec::new();
    let mut entries = Vec::new();
    let mut descriptions = Vec::new();
    let entries_bytes = functions.len() * 8 + 4;
    for (start, name) in functions {
        let description = (entries_bytes + descriptions.len()) as u32;
        entries.extend([start.to_le_bytes(), description.to_le_bytes()].concat());
        descriptions.extend([start.to_le_bytes(), (names.len() as u32).to_le_bytes()].concat());
        names.extend(name.bytes().chain([0]));
    }
    entries.extend(end.to_le_bytes());
    let names_at = 72;
    let functions_at = names_at + names.len() as u64;
    let words = [functions.len() as u64, 1, 0, names_at, 0, 0, 0, functions_at];
    let header = [&0xffff_fff1_u32.to_le_bytes()[..], &[0, 0, 1, 8]].concat();
    let words = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    [header, words, names, entries, descriptions].concat()
}

fn go_example() -> Vec<u8> {
    go_table(&[(0, "runtime.text"), (0x40, "main.main"), (0x80, "main.(*Table).Scan")], 0x100)
}

#[test]
fn go_functions_cover_their_code() {
    let table = go_example();
    let functions = GoFunctions::parse(&table, TEXT_START).unwrap();
    let scan = Symbol {
        name: Some("main.(*Table).Scan".to_owned()),
        kind: SymbolKind::Go,
        start: Some(TEXT_START + 0x80),
        size_bytes: Some(0x80),
    };
    assert_eq!(functions.symbol(TEXT_START + 0xff), Some(scan));
    let main = functions.symbol(TEXT_START + 0x40).unwrap();
    assert_eq!(main.name.as_deref(), Some("main.main"));
    assert_eq!(functions.symbol(TEXT_START + 0x100), None);
    assert_eq!(functions.symbol(TEXT_START - 1), None);
    assert_eq!(functions.symbol(u64::MAX), None);
}

/// Where the bytes of a section are.
fn section_in_file(elf: &[u8], name: &str) -> Range<usize> {
    let file = object::File::parse(elf).unwrap();
    let (at, size) = file.section_by_name(name).unwrap().file_range().unwrap();
    at as usize..(at + size) as usize
}

/// Bytes of which some are others, cut somewhere.
fn damaged(
    bytes: &[u8],
    damage: &[(prop::sample::Index, u8)],
    end: prop::sample::Index,
) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, byte) in damage {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    bytes.truncate(end.index(bytes.len()).max(1));
    bytes
}

fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    vec(any::<(prop::sample::Index, u8)>(), 1..20)
}

/// The last line that covers `address`, by looking at all.
fn last_covering(lines: &[(u32, u16)], address: u64) -> Option<String> {
    let covers = |start: u32, size: u16| {
        (u64::from(start)..u64::from(start) + u64::from(size)).contains(&address)
    };
    let index = lines.iter().rposition(|(start, size)| covers(*start, *size))?;
    Some(format!("f{index}"))
}

proptest! {
    #![proptest_config(as_many_as_asked())]

    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..400), address in any::<u64>()) {
        let _ = resolve_elf(&bytes, None, &[address]);
        let elf = [b"\x7fELF\x02\x01\x01", &bytes[..]].concat();
        let _ = resolve_elf(&elf, Some(&bytes), &[address]);
        let _ = resolve_kallsyms(&bytes, &[address]);
        let _ = resolve_perf_map(&bytes, &[address]);
        let _ = demangled(&bytes);
        if let Some(functions) = GoFunctions::parse(&bytes, address) {
            let _ = functions.symbol(address);
        }
    }

    #[test]
    fn a_program_cut_anywhere_is_answered(program in 0..3_usize, end in any::<prop::sample::Index>()) {
        let program = &PROGRAMS[program];
        program.resolve(&program.bytes[..end.index(program.bytes.len())]);
    }

    #[test]
    fn a_damaged_program_is_answered(
        program in 0..3_usize,
        at in any::<prop::sample::Index>(),
        bytes in vec(any::<u8>(), 1..64),
    ) {
        let program = &PROGRAMS[program];
        let mut damaged = program.bytes.clone();
        let at = at.index(damaged.len());
        let end = damaged.len().min(at + bytes.len());
        damaged[at..end].copy_from_slice(&bytes[..end - at]);
        program.resolve(&damaged);
    }

    #[test]
    fn damaged_classes_are_answered(damage in damage(), section in 0..2_usize) {
        let program = &PROGRAMS[2];
        let mut damaged = program.bytes.clone();
        let at = section_in_file(&damaged, [".data.rel.ro", ".rela.dyn"][section]);
        for (place, byte) in damage {
            let place = at.start + place.index(at.len());
            damaged[place] = byte;
        }
        program.resolve(&damaged);
    }

    #[test]
    fn damaged_headers_of_sections_are_answered(
        program in 0..3_usize,
        from_end in 0..2048_usize,
        bytes in vec(any::<u8>(), 1..16),
    ) {
        let program = &PROGRAMS[program];
        let mut damaged = program.bytes.clone();
        let at = damaged.len() - from_end - bytes.len();
        damaged[at..at + bytes.len()].copy_from_slice(&bytes);
        program.resolve(&damaged);
    }

    #[test]
    fn a_damaged_go_table_is_answered(
        damage in damage(),
        end in any::<prop::sample::Index>(),
        offset in 0..0x120_u64,
    ) {
        let table = damaged(&go_example(), &damage, end);
        if let Some(functions) = GoFunctions::parse(&table, TEXT_START) {
            let _ = functions.symbol(TEXT_START + offset);
        }
    }

    #[test]
    fn any_name_is_demangled_to_something(name in "(_Z|_ZN|_R|_ZN4core)[A-Za-z0-9_$.]{0,80}") {
        prop_assert!(!demangled(name.as_bytes()).is_empty());
    }

    #[test]
    fn kernel_lines_of_any_form_are_answered(
        lines in vec("[0-9a-g]{0,17} [tTdDA?]{0,2} [a-z_]{0,9}(\t\\[[a-z]{0,4}\\])?", 0..30),
        addresses in vec(any::<u64>(), 0..9),
    ) {
        let resolved = resolve_kallsyms(lines.join("\n").as_bytes(), &addresses);
        prop_assert_eq!(resolved.symbols.len(), addresses.len());
    }

    #[test]
    fn the_last_line_of_generated_code_that_covers_an_address_wins(
        lines in vec((0..5000_u32, 0..900_u16), 0..40),
        addresses in vec(0..6000_u64, 1..40),
    ) {
        let text: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(index, (start, size))| format!("{start:x} {size:x} f{index}"))
            .collect();
        let symbols = resolve_perf_map(text.join("\n").as_bytes(), &addresses);
        for (address, symbol) in addresses.iter().zip(symbols) {
            prop_assert_eq!(symbol.name, last_covering(&lines, *address));
        }
    }
}
