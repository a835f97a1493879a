"""The manual pages have each command and each option, in a form that troff reads as it is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.cli.shared.manual import Page, pages, quoted, write_pages
from assay.cli.shared.verbs import VERBS, command_of

READERS = {"man": ["man", "--warnings", "--local-file"], "mandoc": ["mandoc", "-T", "utf8"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("man") / "man1"
    write_pages(place)
    return place


def commands(name: str) -> list[tuple[str, Any]]:
    """A command and those that it consists of, each with its heading."""
    command = command_of(name)
    below = getattr(command, "commands", {})
    return [(f"assay {name}", command), *((f"assay {name} {part}", below[part]) for part in below)]


def literal(page: str) -> str:
    """The text without what troff needs."""
    signs = {
        "e": "\\",
        "-": "-",
        "(dq": '"',
        "(aq": "'",
        "(ga": "`",
        "(ha": "^",
        "(ti": "~",
        "&": "",
    }
    return re.sub(r"\\(e|-|&|\([a-z]{2})", lambda match: signs[match[1]], page)


def test_there_is_a_page_for_each_command(folder: Path) -> None:
    names = {path.stem for path in folder.iterdir()}
    assert names == {"assay", *(f"assay-{name}" for name in VERBS)}


def test_the_overview_lists_all_commands() -> None:
    overview = literal(pages()["assay"])
    for name, verb in VERBS.items():
        assert f".B {name}\n{verb.about}\n" in overview
        assert f"assay-{name}(1)" in overview


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_has_every_option_with_its_help(folder: Path, verb: str) -> None:
    page = literal((folder / f"assay-{verb}.1").read_text("utf-8"))
    for path, command in commands(verb):
        assert f".B {path}\n" in page
        for parameter in command.params:
            names = [*parameter.opts, *parameter.secondary_opts]
            if parameter.param_type_name == "option":
                terms = [line for line in page.splitlines() if line.startswith(".B ")]
                assert any(all(name in term for name in names) for term in terms), names
            assert " ".join((parameter.help or "").split()) in page


@pytest.mark.parametrize("reader", READERS)
def test_readers_of_manual_pages_have_nothing_to_say(folder: Path, reader: str) -> None:
    if shutil.which(reader) is None:
        pytest.skip(f"{reader} is not installed")
    for name in ("assay", "assay-run", "assay-completion", "assay-studies"):
        command = [*READERS[reader], str(folder / f"{name}.1")]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        assert told.stderr == ""
        assert f"{name}" in told.stdout


def test_what_troff_would_take_for_its_own_is_shown_as_it_is() -> None:
    assert quoted(".SH x") == "\\&.SH x"
    assert quoted("a\\b-c ~/'x'") == "a\\eb\\-c \\(ti/\\(aqx\\(aq"


def test_examples_keep_their_lines() -> None:
    page = Page("assay-x", "Do x.")
    page.write_text("First\nparagraph.\n\n\b\nExamples:\n  assay x\n  assay x y")
    assert page.text().endswith(
        "\nFirst paragraph.\n.PP\n.nf\n.B Examples:\n  assay x\n  assay x y\n.fi\n"
    )
