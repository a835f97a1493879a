"""However a text is put together: statements come apart where they were joined, values return."""

from __future__ import annotations

import re
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.model.script import Draw
from assay.workloads import scripts

INSIDE = st.text(st.sampled_from("ab ;é\n${}1"), max_size=8)
PIECES = st.one_of(
    st.sampled_from(["select", "x", "1", "$1", ",", "(", ")", "::text", "a.b", "->>", "é"]),
    INSIDE.map(lambda text: f"'{text}'"),
    INSIDE.map(lambda text: f'"{text}"'),
    INSIDE.map(lambda text: f"/* {text} */"),
    INSIDE.map(lambda text: f"-- {text}".replace("\n", " ") + "\n"),
    st.text(st.sampled_from("ab ;é\n'"), max_size=8).map(lambda text: f"$t$ {text} $t$"),
)
STATEMENTS = st.lists(PIECES, max_size=6).map(lambda pieces: " ".join(["do", *pieces, "x"]))
DRAWS = [Draw(name, integer=(1, 9)) for name in ("a", "b", "c")]


@settings(deadline=None)
@given(
    st.lists(STATEMENTS, min_size=1, max_size=4), st.sampled_from([";", " ;\n", ";;", "; -- x\n"])
)
def test_what_was_joined_comes_apart(written: list[str], joint: str) -> None:
    statements = scripts.statements(joint.join(written) + joint, ("postgresql",))
    assert [re.sub(r"^-- x\n", "", text) for text in statements] == written


@settings(deadline=None)
@given(st.lists(st.sampled_from([*DRAWS, "x", ",", "'${a}x'".replace("${a}", ""), "-- ${a}\n"])))
def test_bound_values_put_back_give_the_text(pieces: list[Draw | str]) -> None:
    text = " ".join(["do", *(f"${{{p.name}}}" if isinstance(p, Draw) else p for p in pieces), "x"])
    (made,) = scripts.operation("q", text, DRAWS, ("postgresql",)).statements
    assert len(set(made.values)) == len(made.values)
    back = re.sub(
        r"\$(\d+)", lambda match: f"${{{DRAWS[made.values[int(match[1]) - 1]].name}}}", made.text
    )
    assert back == text


@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(["postgresql", "duckdb", "mysql", "sqlite", "other"]))
def test_any_text_is_split_or_refused(text: str, dialect: str) -> None:
    with suppress(ValueError):
        assert all(scripts.statements(text, (dialect,)))
    with suppress(ValueError):
        assert scripts.operation("q", text, DRAWS, (dialect,)).statements
