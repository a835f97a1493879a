"""Finds maintenance and old snapshots in the measured part, from samples of sessions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from assay.analysis.operations import NS, window_of
from assay.analysis.server.blockers import own_sessions
from assay.analysis.server.sessions import NEEDED, edges_around, owners, process_growth
from assay.model.other_work import Worker
from assay.record.layout import ACCOUNT_ENGINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.record.reader import Run

STREAM, LOOKS = "other-work", "engine"

Row = dict[str, Any]
# (CPU seconds of a process, bytes that it read and wrote, its share of all such bytes).
Used = tuple[float | None, float | None, float | None]
NOT_METERED: Used = (None, None, None)


def other_work_of(run: Run) -> tuple[Worker, ...] | None:
    """Return sessions with maintenance or old snapshots, most CPU first; None if hidden."""
    window = window_of(run)
    if window is None or not run.has(STREAM):
        return None
    within = run.table(STREAM).filter(pl.col("time_ns").is_between(*window))
    times = run.table(LOOKS).filter(pl.col("time_ns").is_between(*window))["time_ns"]
    rows = within.with_columns(pl.col(pl.Categorical).cast(pl.String)).to_dicts()
    used, titles = _used(run, window)
    used = with_peers(used, titles, {row["session"] for row in rows})
    return workers(rows, own_sessions(run), times.n_unique(), used)


def workers(
    rows: Iterable[Row], own: set[int], looks: int, used: Mapping[int, Used]
) -> tuple[Worker, ...]:
    """Return each maintenance session or worker with each kind of its work.

    Args:
        rows: Rows of the stream.
        own: Numbers of the run's own sessions.
        looks: Number of samples that were taken.
        used: Resource use of processes, by process id.
    """
    seen: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        seen.setdefault((row["session"], row["work"]), []).append(row)
    all_workers = [
        _worker(session, work, theirs, session in own, looks, used.get(session, NOT_METERED))
        for (session, work), theirs in seen.items()
    ]
    return tuple(
        sorted(
            all_workers, key=lambda worker: (-(worker.cpu_s or 0.0), -worker.looks, worker.session)
        )
    )


def _worker(
    session: int,
    work: str,
    rows: list[Row],
    own: bool,  # noqa: FBT001 - the only caller names it
    looks: int,
    used: Used,
) -> Worker:
    # An engine without session numbers may report several sessions in one sample.
    times = len({row["time_ns"] for row in rows})
    return Worker(
        session,
        work,
        own,
        looks=times,
        share=min(1.0, times / max(looks, 1)),
        application=_most(rows, "application"),
        state=_most(rows, "state"),
        statement=_most(rows, "statement"),
        objects=_by_count(rows, "object"),
        transaction_s=_greatest(rows, "transaction_s"),
        behind=_greatest(rows, "behind"),
        cpu_s=used[0],
        moved_bytes=used[1],
        moved_share=used[2],
    )


def _by_count(rows: list[Row], name: str) -> tuple[str, ...]:
    counted = Counter(row[name] for row in rows if row[name] is not None)
    return tuple(word for word, _ in counted.most_common())


def _most(rows: list[Row], name: str) -> str | None:
    values = _by_count(rows, name)
    return values[0] if values else None


def _greatest(rows: list[Row], name: str) -> float | None:
    return max((row[name] for row in rows if row[name] is not None), default=None)


def with_peers(
    used: Mapping[int, Used], titles: Mapping[int, str | None], seen: set[int]
) -> dict[int, Used]:
    """Return resource use, with that of unsampled processes assigned to those of equal title.

    A server may start a new process for each piece of work, and most of these processes end
    between two samples.

    Args:
        used: Resource use by process.
        titles: Titles of processes without a client.
        seen: Pids of processes that were sampled in such work.
    """
    whole = dict(used)
    for title in {titles[pid] for pid in seen if titles.get(pid)}:
        alike = [pid for pid, peer_title in titles.items() if peer_title == title and pid in used]
        mine = [pid for pid in alike if pid in seen]
        sums = [sum(used[pid][place] or 0.0 for pid in alike) / len(mine) for place in range(3)]
        whole |= dict.fromkeys(mine, (sums[0], sums[1], sums[2]))
    return whole


def _used(run: Run, window: tuple[int, int]) -> tuple[dict[int, Used], dict[int, str | None]]:
    """Return the resource use of engine processes, and the titles of those without a client."""
    if not (run.has("backends") and run.has("processes")):
        return {}, {}
    processes = run.table("processes")
    if NEEDED - set(processes.columns):
        return {}, {}
    of_engine = processes.filter(pl.col("account").cast(pl.String) == ACCOUNT_ENGINE)
    edges = edges_around(of_engine["time_ns"], *window)
    if edges is None:
        return {}, {}
    moved = (pl.col("read_bytes") + pl.col("write_bytes")).cast(pl.Float64)
    grown = process_growth(of_engine, *edges).select("pid", pl.col("cpu_ns") * NS, moved, "title")
    activity = run.table("activity") if run.has("activity") else None
    with_client = set(owners(run.table("backends"), activity, of_engine)["pid"].to_list())
    whole = grown["read_bytes"].sum()
    used: dict[int, Used] = {}
    titles: dict[int, str | None] = {}
    for pid, cpu_s, bytes_, title in grown.iter_rows():
        used[pid] = (cpu_s, bytes_, bytes_ / whole if whole and bytes_ is not None else None)
        if pid not in with_client:
            titles[pid] = title
    return used, titles
