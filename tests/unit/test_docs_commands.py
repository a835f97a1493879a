"""Every command of the documentation is one that the command line takes."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from assay.cli.main import app
from assay.cli.shared.verbs import VERBS, command_of
from assay.model.errors import UsageError
from tests.commands import Command, commands_of, pages

# Typer's own class of what is wrong on a command line, and ours.
WRONG = (typer.BadParameter.__mro__[2], UsageError)
COMMANDS = [command for page in pages() for command in commands_of(page)]


def parsed(words: tuple[str, ...]) -> None:
    """Read a command as the command line does, without carrying it out."""
    context = typer.Context(typer.main.get_command(app), info_name="assay")
    command: Any = command_of(words[0])
    rest = list(words[1:])
    if rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    command.make_context(words[0], rest, parent=context)


@pytest.mark.parametrize("page", sorted({command.page for command in COMMANDS}))
def test_commands_of_a_page_are_taken(page: str) -> None:
    refused = {}
    for command in COMMANDS:
        if command.page != page:
            continue
        try:
            parsed(command.words)
        except (*WRONG, KeyError) as error:
            refused[str(command)] = str(getattr(error, "message", error))
    assert refused == {}


@pytest.mark.parametrize(
    "words",
    [("run", "tpch", "--no-such"), ("run", "tpch", "--clients", "many"), ("tune",)],
)
def test_a_command_that_is_none_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(WRONG):
        parsed(words)


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 150
    assert {command.words[0] for command in COMMANDS} == set(VERBS)
    assert Command("README.md", ("run", "tpch", "--scale", "0.1"), run=False) in COMMANDS
    in_a_table = ("durability", "tpcc", "--engine", "postgresql", "--kills", "10")
    assert Command("README.md", in_a_table, run=False) in COMMANDS
