//! Symbols by address.

use std::cmp::Reverse;

use super::SymbolKind;
use super::bounds::Functions;

/// A function as a symbol table has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'d> {
    pub start: u64,
    /// First address behind it; where its size is not known, the end of its section.
    pub end: u64,
    /// Hand-written assembly as a rule does not say its size.
    pub sized: bool,
    pub local: bool,
    pub name: &'d [u8],
    pub kind: SymbolKind,
}

impl Entry<'_> {
    fn covers(&self, address: u64) -> bool {
        self.start <= address && address < self.end
    }

    /// Less is better. Several names for one function are as a rule one of the interface and others
    /// of its insides, which have underscores or are local.
    fn preference(&self) -> impl Ord {
        let underscores = self.name.iter().take_while(|byte| **byte == b'_').count();
        (self.local, underscores, self.name.len(), self.name, self.kind)
    }
}

/// Symbols that can be asked for by address.
pub(super) struct Table<'d> {
    /// By start; of equal start the preferred last.
    sized: Vec<Entry<'d>>,
    /// Largest end among `sized` up to here: how far back one must look.
    reach: Vec<u64>,
    /// By start, each ending where the next symbol starts at the latest.
    open: Vec<Entry<'d>>,
}

impl<'d> Table<'d> {
    pub fn new(mut entries: Vec<Entry<'d>>) -> Self {
        entries.sort_unstable_by(|one, other| {
            let by_preference = || Reverse(one.preference()).cmp(&Reverse(other.preference()));
            one.start.cmp(&other.start).then_with(by_preference)
        });
        end_where_the_next_starts(&mut entries);
        let (sized, open): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.sized);
        let reach = sized.iter().scan(0, |reach, entry| {
            *reach = entry.end.max(*reach);
            Some(*reach)
        });
        Self { reach: reach.collect(), sized, open }
    }

    /// The innermost symbol that says it covers `address`.
    pub fn sized(&self, address: u64) -> Option<Entry<'d>> {
        let behind = self.sized.partition_point(|entry| entry.start <= address);
        (0..behind)
            .rev()
            .take_while(|index| self.reach[*index] > address)
            .map(|index| self.sized[index])
            .find(|entry| entry.covers(address))
    }

    /// The symbol without a size before `address`, if nothing speaks against its being the one:
    /// neither another symbol nor a function of the unwind tables starts or ends between.
    pub fn open(&self, address: u64, functions: &Functions) -> Option<Entry<'d>> {
        let behind = self.open.partition_point(|entry| entry.start <= address);
        let mut entry = *self.open[..behind].last()?;
        if let Some(before) = functions.before(address) {
            if before.start > entry.start {
                return None;
            }
            if entry.start < before.end {
                entry.end = entry.end.min(before.end);
            }
        }
        if let Some(next) = functions.next_start(address) {
            entry.end = entry.end.min(next);
        }
        entry.covers(address).then_some(entry)
    }
}

fn end_where_the_next_starts(entries: &mut [Entry]) {
    let mut next_start = u64::MAX;
    let mut start = u64::MAX;
    for entry in entries.iter_mut().rev() {
        if entry.start != start {
            next_start = start;
            start = entry.start;
        }
        if !entry.sized {
            entry.end = entry.end.min(next_start);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn entry(name: &'static str, start: u64, end: u64) -> Entry<'static> {
        let kind = SymbolKind::Symbol;
        Entry { start, end, sized: true, local: false, name: name.as_bytes(), kind }
    }

    fn open(name: &'static str, start: u64, section_end: u64) -> Entry<'static> {
        Entry { sized: false, ..entry(name, start, section_end) }
    }

    fn sized_name(table: &Table, address: u64) -> Option<String> {
        table.sized(address).map(|entry| String::from_utf8_lossy(entry.name).into_owned())
    }

    fn open_name(table: &Table, address: u64) -> Option<String> {
        let entry = table.open(address, &Functions::none());
        entry.map(|entry| String::from_utf8_lossy(entry.name).into_owned())
    }

    #[test]
    fn an_address_past_the_end_has_no_name() {
        let table = Table::new(vec![entry("a", 10, 20), entry("b", 30, 40)]);
        assert_eq!(sized_name(&table, 9), None);
        assert_eq!(sized_name(&table, 10).as_deref(), Some("a"));
        assert_eq!(sized_name(&table, 19).as_deref(), Some("a"));
        assert_eq!(sized_name(&table, 20), None);
        assert_eq!(sized_name(&table, 30).as_deref(), Some("b"));
        assert_eq!(sized_name(&table, 40), None);
    }

    #[test]
    fn the_innermost_of_nested_symbols_wins_and_the_outer_goes_on_behind_it() {
        let table = Table::new(vec![entry("outer", 0, 100), entry("inner", 20, 30)]);
        assert_eq!(sized_name(&table, 25).as_deref(), Some("inner"));
        assert_eq!(sized_name(&table, 30).as_deref(), Some("outer"));
    }

    #[test]
    fn of_several_names_the_one_of_the_interface_wins() {
        let local = Entry { local: true, ..entry("w", 10, 20) };
        let names = [entry("__libc_write", 10, 20), entry("write", 10, 20), entry("_wri", 10, 20)];
        let table = Table::new([&names[..], &[local]].concat());
        assert_eq!(sized_name(&table, 12).as_deref(), Some("write"));
    }

    #[test]
    fn a_shorter_alias_does_not_hide_the_longer_symbol() {
        let table = Table::new(vec![entry("head", 10, 12), entry("whole_body", 10, 20)]);
        assert_eq!(sized_name(&table, 11).as_deref(), Some("head"));
        assert_eq!(sized_name(&table, 15).as_deref(), Some("whole_body"));
    }

    #[test]
    fn a_symbol_without_size_ends_at_the_next_and_at_the_end_of_its_section() {
        let table = Table::new(vec![open("a", 10, 50), entry("b", 20, 25), open("c", 30, 50)]);
        assert_eq!(open_name(&table, 19).as_deref(), Some("a"));
        assert_eq!(open_name(&table, 22), None);
        assert_eq!(open_name(&table, 27), None);
        assert_eq!(open_name(&table, 49).as_deref(), Some("c"));
        assert_eq!(open_name(&table, 50), None);
    }

    #[test]
    fn a_function_of_the_unwind_tables_ends_a_symbol_without_size() {
        let table = Table::new(vec![open("a", 10, 90)]);
        let named = |address, functions: &[(u64, u64)]| {
            table.open(address, &Functions::of(functions)).map(|entry| entry.end)
        };
        assert_eq!(named(15, &[(10, 20)]), Some(20));
        assert_eq!(named(20, &[(10, 20)]), None);
        assert_eq!(named(35, &[(30, 40)]), None);
        assert_eq!(named(45, &[(30, 40)]), None);
        assert_eq!(named(15, &[(30, 40)]), Some(30));
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_innermost_that_covers(
            ranges in vec((0..200_u64, 1..60_u64), 0..30),
            address in 0..300_u64,
        ) {
            let entries = ranges.iter().map(|(start, size)| entry("f", *start, start + size));
            let innermost = Table::new(entries.collect()).sized(address).map(|entry| entry.start);
            let covering = ranges.iter().filter(|(start, size)| (*start..start + size).contains(&address));
            prop_assert_eq!(innermost, covering.map(|(start, _)| *start).max());
        }
    }
}
