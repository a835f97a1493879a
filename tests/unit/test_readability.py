"""Sentences are counted as a reader meets them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import readability

PAGE = """\
# A heading of words

A paragraph that goes on
over two lines. It has e.g. three. Figures such as 1.5 end none.

- the first item of a list
- the second one,
  on two lines

| Name of it | 12.5 |
|---|---|
| a cell of words | 3 ms |

```
code is no. sentence at all
```
See [the other page](other.md) and `assay run x. Y`.
"""


def test_paragraphs_items_headings_and_cells_are_apart() -> None:
    found = [s for block in readability.paragraphs(PAGE) for s in readability.sentences(block)]
    assert found == [
        "A heading of words",
        "A paragraph that goes on over two lines.",
        "It has e.g. three.",
        "Figures such as 1.5 end none.",
        "the first item of a list",
        "the second one, on two lines",
        "Name of it",
        "a cell of words",
        "See the other page and `assay run x. Y`.",
    ]


def test_sections_of_a_docstring_are_apart() -> None:
    text = (
        "Return the rate.\n\nArgs:\n    run: The run that is read.\n    wide: As wide as that is."
    )
    found = [s for block in readability.paragraphs(text) for s in readability.sentences(block)]
    assert found == ["Return the rate.", "The run that is read.", "As wide as that is."]


def test_wide_lines_are_those_that_could_be_broken(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{'word ' * 30}\n| {'cell ' * 30} |\n```\n{'code ' * 30}\n```\n", "utf-8")
    row = readability.of_pages("page", [page]).row()
    assert row.split()[-1] == "1"


@pytest.mark.parametrize("kind", ["help", "errors"])
def test_each_kind_of_text_is_there(kind: str) -> None:
    texts = {"help": readability.help_texts, "errors": readability.errors}[kind]()
    counted = readability.of_strings(kind, texts)
    assert len(counted.sentences) > 300
    assert readability.draw(counted, 5) == readability.draw(counted, 5)
