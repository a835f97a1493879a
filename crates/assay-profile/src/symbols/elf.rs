//! Names of addresses in an ELF file.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use object::elf::{STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE};
use object::{File, Object, ObjectSection, ObjectSymbol, SectionIndex, SymbolFlags};

use super::bounds::Functions;
use super::demangle::demangled;
use super::go::GoFunctions;
use super::plt::Stubs;
use super::table::{Entry, Table};
use super::{Symbol, SymbolKind, dwarf, mini, vtable};

const EXECUTABLE: u64 = object::elf::SHF_EXECINSTR as u64;

/// The functions that `addresses` are in, by an ELF file and, if there is one, the debug file that
/// belongs to it.
pub fn resolve_elf(elf: &[u8], debug: Option<&[u8]>, addresses: &[u64]) -> Vec<Symbol> {
    let Ok(file) = File::parse(elf) else { return vec![Symbol::NONE; addresses.len()] };
    let small = (debug.is_none() && !has_symbol_table(&file)).then(|| mini::unpacked(&file));
    let small = small.flatten();
    let other = debug.or(small.as_deref()).and_then(|bytes| File::parse(bytes).ok());
    let names = Names::read(&file, other.as_ref());
    let mut symbols: Vec<_> = addresses.iter().map(|address| names.symbol(*address)).collect();
    if !has_symbol_table(&file) && !other.as_ref().is_some_and(has_symbol_table) {
        dwarf::name(other.as_ref().unwrap_or(&file), addresses, &mut symbols);
    }
    vtable::name(&file, &mut symbols);
    symbols
}

pub(super) fn has_symbol_table(elf: &File) -> bool {
    elf.symbols().next().is_some()
}

struct Names<'d, 'f> {
    file: &'f File<'d>,
    table: Table<'f>,
    functions: Functions<'d>,
    stubs: OnceCell<Stubs<'f>>,
    go: Option<GoFunctions<'d>>,
    demangled: RefCell<HashMap<&'f [u8], String>>,
}

impl<'d, 'f> Names<'d, 'f> {
    fn read(file: &'f File<'d>, other: Option<&'f File<'d>>) -> Self {
        let mut entries = Vec::new();
        collect(file, file.symbols(), SymbolKind::Symbol, &mut entries);
        collect(file, file.dynamic_symbols(), SymbolKind::Dynamic, &mut entries);
        if let Some(other) = other {
            collect(other, other.symbols(), SymbolKind::Debug, &mut entries);
        }
        Self {
            file,
            table: Table::new(entries),
            functions: Functions::read(file),
            stubs: OnceCell::new(),
            go: GoFunctions::read(file),
            demangled: RefCell::default(),
        }
    }

    fn symbol(&self, address: u64) -> Symbol {
        self.table
            .sized(address)
            .map(|entry| self.named(&entry))
            .or_else(|| self.stubs.get_or_init(|| Stubs::read(self.file)).symbol(address))
            .or_else(|| self.table.open(address, &self.functions).map(|entry| self.named(&entry)))
            .or_else(|| self.go.as_ref()?.symbol(address))
            .or_else(|| self.functions.covering(address).map(Symbol::bounds))
            .unwrap_or(Symbol::NONE)
    }

    fn named(&self, entry: &Entry<'f>) -> Symbol {
        let mut names = self.demangled.borrow_mut();
        let name = names.entry(entry.name).or_insert_with(|| demangled(entry.name));
        Symbol::new(name.clone(), entry.kind, entry.start, entry.end)
    }
}

fn collect<'d, 'f, S: ObjectSymbol<'f>>(
    file: &'f File<'d>,
    symbols: impl Iterator<Item = S>,
    kind: SymbolKind,
    entries: &mut Vec<Entry<'f>>,
) {
    let code = code_sections(file);
    let function = |symbol: S| {
        let section = symbol.section_index()?;
        let section_end = code.get(section.0).copied().flatten()?;
        let (start, size) = (symbol.address(), symbol.size());
        let end = if size == 0 { section_end } else { start.checked_add(size)? };
        let name = symbol.name_bytes().ok().map(without_version)?;
        let entry = Entry { start, end, sized: size > 0, local: symbol.is_local(), name, kind };
        is_function(&symbol, name).then_some(entry)
    };
    entries.extend(symbols.filter_map(function));
}

/// Ends of the sections with code, by their index.
fn code_sections(file: &File) -> Vec<Option<u64>> {
    let mut ends = Vec::new();
    for section in file.sections() {
        let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        let SectionIndex(index) = section.index();
        ends.resize(ends.len().max(index + 1), None);
        if sh_flags & EXECUTABLE != 0 {
            ends[index] = section.address().checked_add(section.size());
        }
    }
    ends
}

/// Assembly often has labels without a type; labels of assemblers and of the ARM code/data map are
/// no functions.
fn is_function<'f>(symbol: &impl ObjectSymbol<'f>, name: &[u8]) -> bool {
    let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return false };
    match st_info & 0xf {
        STT_FUNC | STT_GNU_IFUNC => !name.is_empty(),
        STT_NOTYPE => !name.is_empty() && !name.starts_with(b"$") && !name.starts_with(b".L"),
        _ => false,
    }
}

/// `memcpy@@GLIBC_2.14` is memcpy.
fn without_version(name: &[u8]) -> &[u8] {
    match name.iter().position(|byte| *byte == b'@') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}
