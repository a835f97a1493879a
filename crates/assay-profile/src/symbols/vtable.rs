//! Names of virtual functions that have no symbol, by the tables of classes that they stand in. C++
//! keeps those, and the classes' names, in a stripped file; the Itanium C++ ABI says their form.

use std::collections::HashMap;

use object::File;

use super::demangle::demangled;
use super::words::{WORD_BYTES, Word, Words};
use super::{Symbol, SymbolKind};

const SLOTS_MAX: u64 = 4096;
const BASES_MAX: u64 = 256;
const ANCESTORS_MAX: usize = 1024;
const CLASS_NAME_BYTES_MAX: usize = 16 * 1024;
/// How far from its beginning a table is pointed to: behind its head of two words.
const HEAD_BYTES: u64 = 2 * WORD_BYTES;
/// A part of an object is never that far from its beginning.
const OBJECT_BYTES_MAX: u64 = 1 << 30;

/// Gives `symbols` that have but bounds the name of the class, and the slot of its table, whose
/// virtual function they are: `Class::[virtual 2]`. Where a class has a table for a base that is not
/// at its beginning, it is `Class::[virtual 2 at 16]`.
pub(super) fn name(file: &File, symbols: &mut [Symbol]) {
    let has_bounds = |symbol: &&Symbol| symbol.kind == SymbolKind::Bounds;
    let mut starts: Vec<_> =
        symbols.iter().filter(has_bounds).filter_map(|one| one.start).collect();
    if starts.is_empty() {
        return;
    }
    starts.sort_unstable();
    starts.dedup();
    let Some(words) = Words::read(file) else { return };
    let names = Classes(words).names(&starts);
    for symbol in symbols.iter_mut().filter(|symbol| symbol.kind == SymbolKind::Bounds) {
        if let Some(name) = symbol.start.and_then(|start| names.get(&start)) {
            symbol.name = Some(name.clone());
            symbol.kind = SymbolKind::Vtable;
        }
    }
}

/// Where a function stands in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    /// How far the table's part of an object is behind the object's beginning.
    part: u64,
    index: u64,
    /// Address of the class's type information.
    class: u64,
}

/// How type information tells the bases of its class.
enum Bases {
    None,
    One,
    Several,
}

struct Classes<'f>(Words<'f>);

impl Classes<'_> {
    /// Names of the functions that start at `starts`, which are sorted.
    fn names(&self, starts: &[u64]) -> HashMap<u64, String> {
        let mut slots: HashMap<u64, Vec<Slot>> = HashMap::new();
        for (place, start) in self.0.pointers_to(starts) {
            if let Some(slot) = self.slot(place) {
                slots.entry(start).or_default().push(slot);
            }
        }
        let name = |(start, slots): (u64, Vec<Slot>)| Some((start, self.function(slots)?));
        slots.into_iter().filter_map(name).collect()
    }

    /// The slot at `place`: all before it up to the table's head are functions, too.
    fn slot(&self, place: u64) -> Option<Slot> {
        for index in 0..SLOTS_MAX {
            let before = place.checked_sub((index + 1) * WORD_BYTES)?;
            let word = self.0.at(before)?;
            if self.is_function(word) {
                continue;
            }
            let Word::Value(class) = word else { return None };
            self.bases_form(class)?;
            let part = self.0.value(before.checked_sub(WORD_BYTES)?)?.wrapping_neg();
            return (part < OBJECT_BYTES_MAX).then_some(Slot { part, index, class });
        }
        None
    }

    fn is_function(&self, word: Word) -> bool {
        match word {
            Word::Value(value) => self.0.is_code(value),
            Word::Foreign { name, offset } => offset == 0 && !name.starts_with(b"_ZTI"),
        }
    }

    /// What a function in `slots` is called: that of the nearest class that all have inherited it
    /// from. Classes without such share it because the linker found equal code in several functions,
    /// and it has no name then.
    fn function(&self, mut slots: Vec<Slot>) -> Option<String> {
        slots.sort_unstable();
        let mut shared = self.ancestors(slots.first()?.class);
        for slot in &slots[1..] {
            let line = self.ancestors(slot.class);
            shared.retain(|class| line.contains(class));
        }
        let class = *shared.first()?;
        let own = slots.iter().find(|slot| slot.class == class);
        let Slot { part, index, .. } = *own.or_else(|| {
            slots.iter().all(|slot| slot.index == slots[0].index).then_some(&slots[0])
        })?;
        let name = self.class_name(class)?;
        Some(match part {
            0 => format!("{name}::[virtual {index}]"),
            _ => format!("{name}::[virtual {index} at {part}]"),
        })
    }

    /// The class and those it is derived from, nearest first.
    fn ancestors(&self, class: u64) -> Vec<u64> {
        let mut line = vec![class];
        let mut next = 0;
        while let Some(class) = line.get(next)
            && line.len() < ANCESTORS_MAX
        {
            for base in self.bases(*class) {
                if !line.contains(&base) {
                    line.push(base);
                }
            }
            next += 1;
        }
        line
    }

    fn bases(&self, class: u64) -> Vec<u64> {
        let base = |offset: u64| {
            let base = self.0.value(class.checked_add(offset)?)?;
            self.bases_form(base).map(|_| base)
        };
        match self.bases_form(class) {
            None | Some(Bases::None) => Vec::new(),
            Some(Bases::One) => base(2 * WORD_BYTES).into_iter().collect(),
            Some(Bases::Several) => {
                let counted = self.0.value(class.saturating_add(2 * WORD_BYTES)).unwrap_or(0);
                let count = (counted >> 32).min(BASES_MAX);
                (0..count).filter_map(|index| base((3 + 2 * index) * WORD_BYTES)).collect()
            }
        }
    }

    /// By the class that type information is itself an object of; none where it is no such object.
    fn bases_form(&self, class: u64) -> Option<Bases> {
        let form = match self.0.at(class)? {
            Word::Foreign { name, offset } if offset == HEAD_BYTES.cast_signed() => name,
            Word::Foreign { .. } => return None,
            Word::Value(table) => match self.0.at(table.checked_sub(HEAD_BYTES)?)? {
                Word::Foreign { name, offset: 0 } => name,
                _ => self.mangled(self.0.value(table.checked_sub(WORD_BYTES)?)?)?,
            },
        };
        match form.strip_prefix(b"_ZTV").unwrap_or(form) {
            b"N10__cxxabiv117__class_type_infoE" => Some(Bases::None),
            b"N10__cxxabiv120__si_class_type_infoE" => Some(Bases::One),
            b"N10__cxxabiv121__vmi_class_type_infoE" => Some(Bases::Several),
            _ => None,
        }
    }

    /// The name in type information. That of a class which only this file knows begins with a star.
    fn mangled(&self, class: u64) -> Option<&[u8]> {
        let text = self.0.bytes(self.0.value(class.checked_add(WORD_BYTES)?)?)?;
        let end = text.iter().take(CLASS_NAME_BYTES_MAX).position(|byte| *byte == 0)?;
        Some(text[..end].strip_prefix(b"*").unwrap_or(&text[..end]))
    }

    fn class_name(&self, class: u64) -> Option<String> {
        let symbol = [b"_ZTI", self.mangled(class)?].concat();
        Some(demangled(&symbol).strip_prefix("typeinfo for ")?.to_owned())
    }
}
