"""Sets the optimiser's statistics of Virtuoso: its own samples, or ANALYZE's.

Loading gathers ANALYZE's statistics once and saves them. A run that uses them then need not read
data for them, and both kinds of runs have the same data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.virtuoso.connecting import GRAPH, file_text, filled, run

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link

NONE, ANALYZE = "none", "analyze"


def tables(link: Link) -> list[str]:
    """Return qualified names of all tables that hold loaded data."""
    asked = filled("tables.sql", graph=GRAPH)
    return [str(name) for name in link.ask(asked).column(0).to_pylist()]


def gather(link: Link) -> None:
    """Gather and save statistics of all Virtuoso tables.

    Raises `EngineError`.
    """
    for table in tables(link):
        link.run(file_text("analyze.sql"), (table,))
    run(link, file_text("keep_statistics.sql"))
    _forget(link)


def choose(link: Link, wanted: str | None) -> None:
    """Set the requested kind of statistics in Virtuoso; None leaves them unchanged.

    Raises `EngineError`.
    """
    if wanted is None or wanted == in_effect(link):
        return
    if wanted == NONE:
        _forget(link)
        return
    run(link, file_text("restore_statistics.sql"))
    _have_read_anew(link)


def in_effect(link: Link) -> str:
    """Return `analyze` if Virtuoso has statistics of ANALYZE, else `none`."""
    ((count,),) = link.text(file_text("statistics.sql"))
    return NONE if count == "0" else ANALYZE


def _forget(link: Link) -> None:
    run(link, file_text("forget_statistics.sql"))
    _have_read_anew(link)


def _have_read_anew(link: Link) -> None:
    """Have Virtuoso read the statistics of its tables again."""
    for table in tables(link):
        link.run(file_text("tell_changed.sql"), (table,))
