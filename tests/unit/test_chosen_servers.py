"""Servers that sessions chose from a list: their counts, and the text of a report's header."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.operations import measured, window_ns
from assay.analysis.server.chosen import STREAM, ChosenServer, chosen_servers
from assay.model.units import seconds_text
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


def failed_over(directory: Path, at_s: float) -> Run:
    """A run in whose measured part the only session went on with another server."""
    run = Run(write_run(directory))
    begun_ns, _ = window_ns(run.table("events")) or (0, 0)
    rows = [
        {"time_ns": time_ns, "session": 0, "server": server}
        for time_ns, server in ((begun_ns, FIRST), (begun_ns + round(at_s * 1e9), SECOND))
    ]
    write_stream(run.dir / "raw" / f"{STREAM}.arrows", rows)
    return Run(run.dir)


def test_a_failover_has_a_time_and_an_outage(tmp_path: Path) -> None:
    run = failed_over(tmp_path, 1.0)
    first, second = chosen_servers(run) or ()
    assert (first.since_s, first.outage_s) == (None, None)
    assert second.since_s == pytest.approx(1.0)
    events = measured(run.table("events"))
    begun_ns, _ = window_ns(events) or (0, 0)
    ends_s = [(it - begun_ns) / 1e9 for it in events.filter(outcome="ok")["finished_ns"]]
    # The driver notes a connection after the first operation on it.
    before_s, first_s = sorted(end for end in ends_s if end <= 1.0)[-2:]
    gap_s = first_s - before_s
    assert second.outage_s == pytest.approx(gap_s)
    (text,) = server_words(document(run, run.dir)["conditions"]["servers"])
    shown = seconds_text(gap_s)
    assert f"{SECOND} (1 connection, from 1.00 s on after {shown} without a successful" in text


@pytest.mark.parametrize("at_s", [-1.0, 0.0])
def test_without_an_operation_before_there_is_no_outage(tmp_path: Path, at_s: float) -> None:
    _, second = chosen_servers(failed_over(tmp_path, at_s)) or ()
    assert second.outage_s is None


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
