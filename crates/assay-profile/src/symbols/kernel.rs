//! Functions of the running kernel and of its modules, by `/proc/kallsyms`.

use std::fs;
use std::path::Path;

use super::table::{Entry, Table};
use super::{Resolved, Symbol, SymbolKind};

/// Letters of `nm` for code.
const CODE: &[u8] = b"tTwW";

pub(super) fn resolve(addresses: &[u64], proc_root: &Path) -> Resolved {
    let path = proc_root.join("kallsyms");
    match fs::read(&path) {
        Ok(text) => resolve_kallsyms(&text, addresses),
        Err(error) => {
            let note = format!("Kernel functions have no names: {}: {error}.", path.display());
            Resolved::nothing(addresses, note)
        }
    }
}

/// The functions that `addresses` are in, by `text`, which has the form of `/proc/kallsyms`.
pub fn resolve_kallsyms(text: &[u8], addresses: &[u64]) -> Resolved {
    let lines: Vec<Line> = text.split(|byte| *byte == b'\n').filter_map(Line::parse).collect();
    if lines.iter().all(|line| line.address == 0) {
        let note = "Kernel functions have no names, because this process may not see addresses of \
                    the kernel: run it as root, or set kernel.kptr_restrict to 0.";
        return Resolved::nothing(addresses, note.to_owned());
    }
    let table = Table::new(entries(lines));
    let symbol = |address: &u64| match table.sized(*address) {
        Some(entry) => {
            let name = String::from_utf8_lossy(entry.name).into_owned();
            Symbol::new(name, SymbolKind::Kernel, entry.start, entry.end)
        }
        None => Symbol::NONE,
    };
    Resolved { symbols: addresses.iter().map(symbol).collect(), notes: Vec::new() }
}

/// `ffffffff81000000 T name [module]`
struct Line<'t> {
    address: u64,
    letter: u8,
    name: &'t [u8],
    module: Option<&'t [u8]>,
}

impl<'t> Line<'t> {
    fn parse(line: &'t [u8]) -> Option<Self> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let address = u64::from_str_radix(str::from_utf8(fields.next()?).ok()?, 16).ok()?;
        let &[letter] = fields.next()? else { return None };
        Some(Self { address, letter, name: fields.next()?, module: fields.next() })
    }
}

/// The list has no sizes: a function lasts until the next symbol of any kind, if that is of the same
/// module. What lies behind the last of a module is unknown.
fn entries(mut lines: Vec<Line>) -> Vec<Entry> {
    lines.sort_by_key(|line| line.address);
    let mut entries = Vec::new();
    let mut next: Option<(u64, Option<&[u8]>)> = None;
    for same in lines.chunk_by(|one, other| one.address == other.address).rev() {
        let start = same[0].address;
        for line in same.iter().filter(|line| CODE.contains(&line.letter)) {
            if let Some((end, _)) = next.filter(|(_, module)| *module == line.module) {
                let local = line.letter.is_ascii_lowercase();
                let (name, kind) = (line.name, SymbolKind::Kernel);
                entries.push(Entry { start, end, sized: true, local, name, kind });
            }
        }
        next = Some((start, same[0].module));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T _stext\n\
        ffffffff81000000 T startup\n\
        ffffffff81000100 t do_syscall_64\n\
        ffffffff81000200 D _etext\n\
        ffffffffc0000000 t ext4_read\t[ext4]\n\
        ffffffffc0000080 t ext4_write\t[ext4]\n\
        ffffffffc0010000 t nf_hook\t[nf]\n\
        not a line\n";

    fn names(addresses: &[u64]) -> Vec<Option<String>> {
        let resolved = resolve_kallsyms(TEXT, addresses);
        resolved.symbols.into_iter().map(|symbol| symbol.name).collect()
    }

    #[test]
    fn a_function_lasts_until_the_next_symbol_of_its_module() {
        let start = 0xffff_ffff_8100_0000;
        let module = 0xffff_ffff_c000_0000;
        let of = |name: &str| Some(name.to_owned());
        assert_eq!(
            names(&[start, start + 0x1ff, start + 0x200, module + 0x7f, module + 0x80]),
            [of("startup"), of("do_syscall_64"), None, of("ext4_read"), None]
        );
        assert_eq!(names(&[1, u64::MAX, module + 0x1_0000]), [None, None, None]);
    }

    #[test]
    fn the_size_is_said() {
        let resolved = resolve_kallsyms(TEXT, &[0xffff_ffff_8100_0180]);
        assert_eq!(resolved.symbols[0].start, Some(0xffff_ffff_8100_0100));
        assert_eq!(resolved.symbols[0].size_bytes, Some(0x100));
        assert_eq!(resolved.symbols[0].kind, SymbolKind::Kernel);
    }

    #[test]
    fn hidden_addresses_are_noted() {
        let resolved = resolve_kallsyms(b"0000000000000000 T _stext\n", &[0, 5]);
        assert_eq!(resolved.symbols, [Symbol::NONE, Symbol::NONE]);
        assert!(resolved.notes[0].contains("kptr_restrict"), "{:?}", resolved.notes);
    }
}
