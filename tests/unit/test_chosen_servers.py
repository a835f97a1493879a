"""Servers that sessions chose from a list: their counts, and the text of a report's header."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.server.chosen import STREAM, ChosenServer, chosen_servers
from assay.record.reader import Run
from assay.report.document import document
from assay.report.words.conditions import server_words
from assay.report.words.run import conditions_text
from tests.conftest import write_stream
from tests.records import write_run

FIRST, SECOND = "127.0.0.1:5433", "/run/postgresql/.s.PGSQL.5432"


def recorded(directory: Path, *connections: tuple[int, str]) -> Run:
    """A run with one row for each connection: its session and its server, in order of time."""
    run = write_run(directory)
    rows = [
        {"time_ns": time_ns, "session": session, "server": server}
        for time_ns, (session, server) in enumerate(connections)
    ]
    write_stream(run / "raw" / f"{STREAM}.arrows", rows)
    return Run(run)


def test_sessions_and_connections_of_each_server_are_counted(tmp_path: Path) -> None:
    run = recorded(tmp_path, (0, FIRST), (1, SECOND), (2, FIRST), (1, FIRST), (1, FIRST))
    assert chosen_servers(run) == (ChosenServer(FIRST, 3, 4), ChosenServer(SECOND, 1, 1))


def test_an_older_record_has_no_servers(tmp_path: Path) -> None:
    assert chosen_servers(Run(write_run(tmp_path))) is None


@pytest.mark.parametrize(
    ("connections", "text"),
    [
        ([(0, FIRST), (1, FIRST)], None),
        (
            [(0, FIRST), (1, SECOND), (1, FIRST)],
            f"sessions on 2 servers: {FIRST} (2 connections) and {SECOND} (1 connection)",
        ),
    ],
)
def test_the_header_names_servers_only_if_there_were_several(
    tmp_path: Path, connections: list[tuple[int, str]], text: str | None
) -> None:
    run = recorded(tmp_path, *connections)
    made = document(run, run.dir)
    assert server_words(made["conditions"]["servers"]) == ([] if text is None else [text])
    header = conditions_text(made)
    assert (text in header) if text is not None else ("server" not in header)
