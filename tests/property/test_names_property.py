"""Names of functions: the signatures of three languages, and texts that are no names at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.work.names import family, label, without_clone

PIECES = [
    "a", "foo", "::", "<", ">", "(", ")", "{", "}", "[", "]", " ", "operator", "operator ",
    "&", "->", ".", "*", " [clone .cold]", " [clone .part.0]", ".constprop.0", "<T as X>", "@",
    "(anonymous namespace)", "{lambda(int)#1}", "::h0123456789abcdef", "@@V1", ",", "\n",
    " const", "~",
]  # fmt: skip
texts = st.text(max_size=30) | st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(texts)
def test_any_text_has_a_label_and_a_family_that_stay(text: str) -> None:
    short = label(text)
    assert label(short) == short
    shown = family(short)
    assert family(shown) == shown
    assert bool(shown) == bool(text)


@given(st.lists(st.sampled_from(["int", "long", "a::B<int>", "void (*)(int)", "(x < 2)"])))
def test_parameters_and_template_arguments_make_no_other_family(arguments: list[str]) -> None:
    inside = ", ".join(arguments)
    assert label(f"void ns::f<int>({inside}) const") == "ns::f<int>"
    assert family(label(f"void ns::f<{inside}>({inside})")) == "ns::f<*>"


@pytest.mark.parametrize(
    ("name", "shown", "line"),
    [
        ("ExecScan", "ExecScan", "ExecScan"),
        ("ExecScan.constprop.0", "ExecScan.constprop.0", "ExecScan"),
        ("f.isra.0.cold", "f.isra.0.cold", "f"),
        ("a::f(int) [clone .part.0]", "a::f.part.0", "a::f"),
        ("a::f(int) const [clone .cold]", "a::f.cold", "a::f"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f", "(anonymous namespace)::f"),
        ("a::F<void (*)(int)>::operator()(int) const", "a::F<void (*)(int)>::operator()",
         "a::F<*>::operator()"),
        ("bool a::operator< <int>(a::B<int> const&, b)", "a::operator< <int>", "a::operator< <*>"),
        ("std::ostream& std::operator<< <char>(std::ostream&)", "std::operator<< <char>",
         "std::operator<< <*>"),
        ("a::P<X>::operator->() const", "a::P<X>::operator->", "a::P<*>::operator->"),
        ("a::V<int>::operator[](unsigned long)", "a::V<int>::operator[]", "a::V<*>::operator[]"),
        ("a::V::operator unsigned long() const", "a::V::operator unsigned long",
         "a::V::operator unsigned long"),
        ("operator new(unsigned long)", "operator new", "operator new"),
        ("a::f(int)::{lambda(int, long)#1}::operator()(int) const",
         "a::f::{lambda#1}::operator()", "a::f::{lambda#1}::operator()"),
        ("non-virtual thunk to a::B::c(int)", "a::B::c", "a::B::c"),
        ("decltype(auto) f<int>(int)", "f<int>", "f<*>"),
        ("s::_M_append[abi:cxx11](char const*)", "s::_M_append[abi:cxx11]",
         "s::_M_append[abi:cxx11]"),
        ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
         "core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<*>"),
        ("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
         "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
         "<alloc::vec::Vec<*> as core::ops::Drop>::drop"),
        ("<F as X<fn(A) -> B>>::y", "<F as X<fn(A) -> B>>::y", "<F as X<*>>::y"),
        ("assay_drive::run::{{closure}}", "assay_drive::run::{{closure}}",
         "assay_drive::run::{{closure}}"),
        ("main.(*Server).Serve", "main.(*Server).Serve", "main.(*Server).Serve"),
        ("github.com/x/y.(*T).Method.func1", "github.com/x/y.(*T).Method.func1",
         "github.com/x/y.(*T).Method.func1"),
        ("memcpy@@GLIBC_2.14", "memcpy", "memcpy"),
        ("StubRoutines (1)", "StubRoutines (1)", "StubRoutines (1)"),
        ("a::f(", "a::f(", "a::f("),
        ("", "", ""),
    ],
)  # fmt: skip
def test_names_of_three_languages(name: str, shown: str, line: str) -> None:
    assert (label(name), family(label(name))) == (shown, line)


def test_a_name_that_is_a_suffix_alone_stays() -> None:
    assert without_clone(".cold") == ".cold"
