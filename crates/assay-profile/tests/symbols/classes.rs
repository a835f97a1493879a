//! Names of virtual functions of stripped files, by the tables of their classes.

use assay_profile::symbols::{Symbol, SymbolKind, resolve_elf};

use crate::workshop::{Workshop, symbol};

/// What functions of the program are called once it is stripped, asked by their last byte.
fn named<const N: usize>(
    workshop: &Workshop,
    functions: [&str; N],
) -> [(Option<String>, SymbolKind); N] {
    let places = functions.map(|function| symbol(&workshop.program(), function));
    let stripped = std::fs::read(workshop.stripped()).unwrap();
    let addresses = places.map(|(start, size)| start + size - 1);
    let symbols: Vec<Symbol> = resolve_elf(&stripped, None, &addresses);
    for (symbol, (start, size)) in symbols.iter().zip(places) {
        assert_eq!((symbol.start, symbol.size_bytes), (Some(start), Some(size)), "{symbol:?}");
    }
    let mut pairs = symbols.into_iter().map(|symbol| (symbol.name, symbol.kind));
    functions.map(|_| pairs.next().unwrap())
}

fn virtual_of(name: &str) -> (Option<String>, SymbolKind) {
    (Some(name.to_owned()), SymbolKind::Vtable)
}

const NAMELESS: (Option<String>, SymbolKind) = (None, SymbolKind::Bounds);

fn library() -> Workshop {
    Workshop::with_classes(&["-shared", "-fPIC"])
}

#[test]
fn a_virtual_function_has_its_class_and_its_slot() {
    assert_eq!(
        named(&library(), ["draw_square", "draw_grid", "of_local"]),
        [
            virtual_of("Square::[virtual 1]"),
            virtual_of("plane::Grid<int>::[virtual 1]"),
            virtual_of("(anonymous namespace)::Local::[virtual 0]"),
        ]
    );
}

#[test]
fn an_inherited_function_is_of_the_class_that_all_have_it_from() {
    assert_eq!(
        named(&library(), ["area", "draw_circle", "only_inherited"]),
        [
            virtual_of("Shape::[virtual 0]"),
            virtual_of("Circle::[virtual 1]"),
            virtual_of("Shape::[virtual 2]"),
        ]
    );
}

#[test]
fn a_table_of_a_later_base_says_where_its_part_begins() {
    assert_eq!(named(&library(), ["of_other_part"]), [virtual_of("Both::[virtual 0 at 16]")]);
}

#[test]
fn what_is_of_no_class_or_of_unrelated_ones_has_no_name() {
    assert_eq!(named(&library(), ["no_method", "folded"]), [NAMELESS, NAMELESS]);
}

#[test]
fn a_symbol_is_never_replaced() {
    let exported = (Some("exported".to_owned()), SymbolKind::Dynamic);
    assert_eq!(named(&library(), ["exported"]), [exported]);
}

#[test]
fn a_class_that_says_to_be_its_own_base_is_answered() {
    assert_eq!(named(&library(), ["of_loop"]), [virtual_of("Loop::[virtual 0]")]);
}

/// A library without any symbol of its classes and with packed relocations where the linker knows
/// them, a program that is loaded anywhere, and one that is not.
#[test]
fn names_need_no_symbols_of_classes_and_no_library() {
    let hidden = ["-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,pack-relative-relocs"];
    let anywhere = ["-static-pie", "-fPIE", "-Wl,-e,start"];
    let fixed = ["-static", "-no-pie", "-fno-pie", "-Wl,-e,start"];
    for options in [&hidden[..], &anywhere, &fixed] {
        let workshop = Workshop::with_classes(&[options, &["-DOWN_FORMS"]].concat());
        assert_eq!(
            named(&workshop, ["area", "draw_square", "only_inherited", "of_other_part", "folded"]),
            [
                virtual_of("Shape::[virtual 0]"),
                virtual_of("Square::[virtual 1]"),
                virtual_of("Shape::[virtual 2]"),
                virtual_of("Both::[virtual 0 at 16]"),
                NAMELESS,
            ],
            "{options:?}"
        );
    }
}

/// The loader copies what such a program points to in a library into the program.
#[test]
fn a_program_with_copies_of_what_its_library_has_is_read() {
    let built = Workshop::with_classes(&["-shared", "-fPIC", "-DOWN_FORMS"]);
    let library = built.program();
    let options = ["-no-pie", "-fno-pie", "-Wl,-e,start", library.to_str().unwrap()];
    let workshop = Workshop::with_classes(&options);
    assert_eq!(
        named(&workshop, ["area", "draw_square"]),
        [virtual_of("Shape::[virtual 0]"), virtual_of("Square::[virtual 1]")]
    );
}
