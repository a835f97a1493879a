//! Names of functions in real files: programs of this build, a C program in all states of stripping,
//! and the C library of the host.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workshop::{Workshop, addresses, functions, symbol};
use assay_profile::symbols::{
    ModuleKind, Resolved, SampledProcess, Symbol, SymbolKind, SymbolRoots, build_id, resolve,
};
use object::{Object, ObjectSymbol};

fn nowhere() -> SymbolRoots {
    SymbolRoots { debug_dirs: Vec::new(), ..SymbolRoots::default() }
}

fn in_file(path: &Path, addresses: &[u64]) -> Resolved {
    resolve_as(path, None, addresses, &nowhere())
}

fn resolve_as(path: &Path, id: Option<&str>, addresses: &[u64], roots: &SymbolRoots) -> Resolved {
    resolve(&ModuleKind::File { path, build_id: id, process: None }, addresses, roots)
}

fn one(path: &Path, address: u64) -> Symbol {
    in_file(path, &[address]).symbols.remove(0)
}

fn named(name: &str, kind: SymbolKind, (start, size): (u64, u64)) -> Symbol {
    Symbol { name: Some(name.to_owned()), kind, start: Some(start), size_bytes: Some(size) }
}

fn bounds((start, size): (u64, u64)) -> Symbol {
    Symbol { name: None, kind: SymbolKind::Bounds, start: Some(start), size_bytes: Some(size) }
}

/// Lines of `/proc/self/maps` end with the path of the file.
fn mapped(matches: impl Fn(&str) -> bool) -> (u64, PathBuf) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| matches(line)).expect("it is mapped");
    let (start, _) = line.split_once('-').unwrap();
    let path = line.split_ascii_whitespace().nth(5).unwrap();
    (u64::from_str_radix(start, 16).unwrap(), path.into())
}

#[inline(never)]
fn to_be_found(depth: u32) -> u32 {
    std::hint::black_box(depth) + 1
}

#[test]
fn a_rust_function_of_this_program_is_named_without_its_hash() {
    let program = std::env::current_exe().unwrap();
    let (base, _) = mapped(|line| line.ends_with(program.to_str().unwrap()));
    let start = to_be_found as fn(u32) -> u32 as usize as u64 - base;
    let symbol = one(&program, start + 1);
    assert_eq!(symbol.name.as_deref(), Some("symbols::files::to_be_found"));
    assert_eq!((symbol.kind, symbol.start), (SymbolKind::Symbol, Some(start)));
    assert_eq!(to_be_found(1), 2);
}

#[test]
fn an_address_between_functions_is_not_named() {
    let program = std::env::current_exe().unwrap();
    let mut functions = functions(&program);
    functions.sort_unstable();
    let gaps: Vec<u64> = functions
        .windows(2)
        .filter(|pair| pair[0].0 + pair[0].1 < pair[1].0)
        .map(|pair| pair[0].0 + pair[0].1)
        .filter(|gap| !functions.iter().any(|(start, size)| (*start..start + size).contains(gap)))
        .collect();
    assert!(gaps.len() > 100, "{} gaps", gaps.len());
    for (gap, symbol) in gaps.iter().zip(in_file(&program, &gaps).symbols) {
        assert!(symbol.name.is_none(), "{gap:#x}: {symbol:?}");
    }
}

#[test]
fn every_function_of_a_program_covers_its_first_and_last_byte() {
    let workshop = Workshop::new();
    let program = workshop.program();
    let functions = functions(&program);
    assert!(functions.len() >= 3, "{functions:?}");
    for (start, size) in functions {
        for address in [start, start + size - 1] {
            let symbol = one(&program, address);
            assert_eq!((symbol.start, symbol.size_bytes), (Some(start), Some(size)));
            assert!(symbol.name.is_some());
        }
    }
    assert!(in_file(&program, &[symbol(&program, "inside").0]).notes.is_empty());
}

#[test]
fn of_aliases_the_plain_name_is_shown() {
    let workshop = Workshop::new();
    let program = workshop.program();
    let place = symbol(&program, "outside_too");
    assert_eq!(one(&program, place.0), named("outside", SymbolKind::Symbol, place));
}

#[test]
fn a_stripped_program_has_bounds_and_says_why() {
    let workshop = Workshop::new();
    let (program, stripped) = (workshop.program(), workshop.stripped());
    let places = ["inside", "outside", "main"].map(|name| symbol(&program, name));
    let inside = places.map(|(start, size)| start + size / 2);
    let resolved = in_file(&stripped, &inside);
    assert_eq!(resolved.symbols, places.map(bounds));
    let [note] = &resolved.notes[..] else { panic!("{:?}", resolved.notes) };
    assert!(note.contains("3 of 3 places have no name (3 have the bounds"), "{note}");
}

#[test]
fn bounds_are_found_without_the_table_for_searching_them() {
    let workshop = Workshop::with(&["-Wl,--no-eh-frame-hdr"]);
    let place = symbol(&workshop.program(), "inside");
    assert_eq!(one(&workshop.stripped(), place.0 + 1), bounds(place));
}

#[test]
fn assembly_without_size_ends_where_another_function_begins() {
    let workshop = Workshop::new();
    let program = workshop.program();
    let (start, size) = symbol(&program, "bare_assembly");
    let (hidden_end, _) = symbol(&program, "hidden_end");
    let hidden = (hidden_end - 40, 40);
    assert_eq!(size, 0);
    let whole = (start, hidden.0 - start);
    assert_eq!(one(&program, start + 23), named("bare_assembly", SymbolKind::Symbol, whole));
    assert_eq!(one(&program, hidden.0), bounds(hidden));
    assert_eq!(one(&program, hidden.0 + 39), bounds(hidden));
}

#[test]
fn a_debug_file_is_found_by_build_id() {
    let workshop = Workshop::new();
    let place = symbol(&workshop.program(), "inside");
    let stripped = workshop.stripped();
    let id = build_id(&stripped).expect("the linker was told to give it one");
    let dir = format!("debug/.build-id/{}", &id[..2]);
    fs::create_dir_all(workshop.path(&dir)).unwrap();
    workshop.objcopy(&["--only-keep-debug"], "sample", &format!("{dir}/{}.debug", &id[2..]));
    let roots = SymbolRoots { debug_dirs: vec![workshop.path("debug")], ..nowhere() };
    let resolved = resolve_as(&stripped, Some(&id), &[place.0 + 1], &roots);
    assert_eq!(resolved.symbols, [named("inside", SymbolKind::Debug, place)]);
    assert!(resolved.notes.is_empty(), "{:?}", resolved.notes);
}

#[test]
fn a_debug_file_is_found_by_its_link_if_it_is_the_one_that_was_linked() {
    let workshop = Workshop::with(&["-Wl,--build-id=none"]);
    let place = symbol(&workshop.program(), "inside");
    workshop.objcopy(&["--only-keep-debug"], "sample", "sample.debug");
    let link = format!("--add-gnu-debuglink={}", workshop.path("sample.debug").display());
    workshop.objcopy(&["--strip-all", &link], "sample", "linked");
    let linked = workshop.path("linked");
    assert_eq!(build_id(&linked), None);
    assert_eq!(one(&linked, place.0), named("inside", SymbolKind::Debug, place));

    fs::create_dir(workshop.path(".debug")).unwrap();
    fs::rename(workshop.path("sample.debug"), workshop.path(".debug/sample.debug")).unwrap();
    assert_eq!(one(&linked, place.0), named("inside", SymbolKind::Debug, place));

    fs::copy(workshop.program(), workshop.path(".debug/sample.debug")).unwrap();
    assert_eq!(one(&linked, place.0), bounds(place));
}

#[test]
fn a_packed_symbol_table_is_read() {
    let workshop = Workshop::new();
    let place = symbol(&workshop.program(), "inside");
    workshop.objcopy(&["--only-keep-debug", "--strip-debug"], "sample", "small");
    let small = fs::read(workshop.path("small")).unwrap();
    let mut packed = Vec::new();
    lzma_rs::xz_compress(&mut &small[..], &mut packed).unwrap();
    fs::write(workshop.path("small.xz"), packed).unwrap();
    let section = format!(".gnu_debugdata={}", workshop.path("small.xz").display());
    workshop.objcopy(&["--strip-all", "--add-section", &section], "sample", "packed");
    let symbol = one(&workshop.path("packed"), place.0 + 1);
    assert_eq!(symbol, named("inside", SymbolKind::Debug, place));
}

#[test]
fn debug_information_alone_gives_names() {
    let workshop = Workshop::new();
    let place = symbol(&workshop.program(), "inside");
    workshop.objcopy(&["--strip-all", "--keep-section=.debug_*"], "sample", "dwarf");
    let path = workshop.path("dwarf");
    let bytes = fs::read(&path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    assert!(file.symbols().all(|symbol| symbol.size() == 0), "no function has a symbol");
    assert_eq!(one(&path, place.0 + 1), named("inside", SymbolKind::Debug, place));
}

#[test]
fn stubs_have_the_name_of_what_they_call() {
    let workshop = Workshop::new();
    let stripped = workshop.stripped();
    let stubs: Vec<u64> =
        [".plt", ".plt.sec"].iter().flat_map(|section| addresses(&stripped, section, 16)).collect();
    let symbols = in_file(&stripped, &stubs).symbols;
    let puts = symbols.iter().find(|symbol| symbol.name.as_deref() == Some("puts@plt"));
    let puts = puts.unwrap_or_else(|| panic!("{symbols:?}"));
    assert_eq!((puts.kind, puts.size_bytes), (SymbolKind::Dynamic, Some(16)));
    assert!(symbols.iter().any(|symbol| symbol.name.as_deref() == Some("printf@plt")));
}

#[test]
fn a_file_that_was_replaced_or_deleted_gives_no_names() {
    let workshop = Workshop::new();
    let program = workshop.program();
    let place = symbol(&program, "inside");
    let id = build_id(&program).unwrap();
    let deleted = workshop.path("sample (deleted)");
    let noted = |path: &Path, id: Option<&str>, word: &str| {
        let resolved = resolve_as(path, id, &[place.0], &nowhere());
        assert_eq!(resolved.symbols, [Symbol::NONE]);
        assert!(resolved.notes[0].contains(word), "{:?}", resolved.notes);
    };
    noted(&program, Some("00ff"), "replaced");
    noted(&deleted, None, "replaced");
    noted(&workshop.path("other (deleted)"), Some(&id), "deleted");
    noted(&workshop.path("other"), Some(&id), "cannot be read");
    noted(&workshop.path("sample.c"), None, "not an ELF file");
    noted(Path::new("/dev/null"), None, "not a regular file");

    let same = resolve_as(&deleted, Some(&id), &[place.0], &nowhere());
    assert_eq!(same.symbols, [named("inside", SymbolKind::Symbol, place)]);
}

#[test]
fn a_file_of_a_container_is_looked_for_below_the_root_of_its_process() {
    let workshop = Workshop::new();
    let place = symbol(&workshop.program(), "inside");
    let inside = workshop.path("proc/4711/root/opt/engine");
    fs::create_dir_all(inside.parent().unwrap()).unwrap();
    fs::copy(workshop.program(), &inside).unwrap();
    let proc_root = workshop.path("proc");
    let start = |ticks: u64| {
        let stat = format!("4711 (engine) S {}{ticks} 0\n", "0 ".repeat(18));
        fs::write(proc_root.join("4711/stat"), stat).unwrap();
    };
    fs::write(proc_root.join("4711/status"), "Uid:\t1\t1\t1\t1\n").unwrap();
    start(300);
    let process = Some(SampledProcess::of(&proc_root, 4711));
    let kind = ModuleKind::File { path: Path::new("/opt/engine"), build_id: None, process };
    let roots = SymbolRoots { proc_root: proc_root.clone(), ..nowhere() };
    let resolved = resolve(&kind, &[place.0], &roots);
    assert_eq!(resolved.symbols, [named("inside", SymbolKind::Symbol, place)]);
    // Another process has the number.
    start(301);
    assert_eq!(resolve(&kind, &[place.0], &roots).symbols, [Symbol::NONE]);
}

/// The names that a stripped C library still has are of what it exports. Between those lie its
/// private functions, such as the variants of `memmove`; their nearest neighbour is not their name.
#[test]
fn private_functions_of_the_c_library_have_no_neighbours_name() {
    let workshop = Workshop::new();
    let (_, library) = mapped(|line| line.contains("/libc.so") || line.contains("/libc-"));
    fs::copy(library, workshop.path("libc")).unwrap();
    workshop.objcopy(&["--strip-all"], "libc", "libc-stripped");
    let library = workshop.path("libc-stripped");
    let bytes = fs::read(&library).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let exported: Vec<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.size() > 0 && symbol.section_index().is_some())
        .map(|symbol| symbol.address()..symbol.address() + symbol.size())
        .collect();
    let sampled = addresses(&library, ".text", 256);
    let mut bounded = 0;
    for (address, symbol) in sampled.iter().zip(in_file(&library, &sampled).symbols) {
        let is_exported = exported.iter().any(|range| range.contains(address));
        assert_eq!(symbol.name.is_some(), is_exported, "{address:#x}: {symbol:?}");
        if let (SymbolKind::Bounds, Some(start), Some(size)) =
            (symbol.kind, symbol.start, symbol.size_bytes)
        {
            bounded += 1;
            assert!((start..start + size).contains(address), "{address:#x}: {symbol:?}");
        }
    }
    assert!(bounded * 5 > sampled.len(), "{bounded} of {}", sampled.len());
}

#[test]
fn the_file_that_the_kernel_maps_has_names() {
    let addresses: Vec<u64> = (0..0x2000).step_by(16).collect();
    let symbols = resolve(&ModuleKind::Vdso, &addresses, &nowhere()).symbols;
    let mut names = symbols.iter().filter_map(|symbol| symbol.name.as_deref());
    assert!(names.any(|name| name.ends_with("clock_gettime")), "{symbols:?}");
}

#[test]
fn the_running_kernel_gives_names_or_says_why_not() {
    let text = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let line = text.lines().find(|line| line.ends_with(" T schedule")).unwrap_or("0 T schedule");
    let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    let resolved = resolve(&ModuleKind::Kernel, &[address + 1], &nowhere());
    if address == 0 {
        assert_eq!((resolved.symbols, resolved.notes.len()), (vec![Symbol::NONE], 1));
    } else {
        assert_eq!(resolved.symbols[0].name.as_deref(), Some("schedule"));
    }
}
