"""The optimiser's statistics: its own samples of data, or those of ANALYZE.

Loading gathers them once and puts them aside, so that a run that wants them need not read data for
them, and both kinds of runs have the same data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.virtuoso.connecting import GRAPH, file_text, filled, run

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link

NONE, ANALYZE = "none", "analyze"


def tables(link: Link) -> list[str]:
    """Whole names of all tables that hold what was loaded."""
    asked = filled("tables.sql", graph=GRAPH)
    return [str(name) for name in link.ask(asked).column(0).to_pylist()]


def gather(link: Link) -> None:
    """Gathers statistics of all tables and puts them aside. Raises `EngineError`."""
    for table in tables(link):
        link.run(file_text("analyze.sql"), (table,))
    run(link, file_text("keep_statistics.sql"))
    _forget(link)


def choose(link: Link, wanted: str | None) -> None:
    """Gives the optimiser what is wanted; None leaves what it has. Raises `EngineError`."""
    if wanted is None or wanted == in_effect(link):
        return
    if wanted == NONE:
        _forget(link)
        return
    run(link, file_text("restore_statistics.sql"))
    _have_read_anew(link)


def in_effect(link: Link) -> str:
    """`analyze` if there are any, else `none`."""
    ((count,),) = link.text(file_text("statistics.sql"))
    return NONE if count == "0" else ANALYZE


def _forget(link: Link) -> None:
    run(link, file_text("forget_statistics.sql"))
    _have_read_anew(link)


def _have_read_anew(link: Link) -> None:
    """Has the server read the statistics of its tables again."""
    for table in tables(link):
        link.run(file_text("tell_changed.sql"), (table,))
