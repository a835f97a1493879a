"""Finds what limits a load as clients grow: the causes that make operations take longer.

The runs from the knee on are compared with the runs of the fewest clients. A client's time per
successful operation is split by cause and by statement; time in failed attempts is a separate
cause. The cause that grew most is the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.findings.client.client_bound import SATURATED_SHARE
from assay.analysis.findings.host.processes import cpus_text
from assay.analysis.metrics import summary_of
from assay.analysis.stats.student import mean_of
from assay.analysis.sweep.client_time import client_time
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.sweep.client_time import ClientTime
    from assay.record.reader import Run

RETRIES, LOCK, LATCH, CPU, LOG = "retries", "lock", "latch", "cpu", "log"
READS, CLIENT, COMMIT, UNKNOWN = "reads", "client", "commit", "unknown"
NAMES = {
    RETRIES: "conflicts, whose attempts fail and are made again",
    LOCK: "waiting for locks",
    LATCH: "waiting for latches",
    CPU: "the CPU",
    LOG: "the log, written and synced at commits",
    READS: "reading the disk",
    CLIENT: "the network or the client itself",
    COMMIT: "commits, which wait for the log or for one another",
    UNKNOWN: "something that was not measured",
}
SHORT_NAMES = {
    RETRIES: "conflicts",
    LOCK: "locks",
    LATCH: "latches",
    CPU: "CPU",
    LOG: "log",
    READS: "reads",
    CLIENT: "network or client",
    COMMIT: "commits",
    UNKNOWN: "not measured",
}
# Causes of an operation's time that belong to each limit. Other causes have no limit's name.
OF_CAUSES = {
    LOCK: ("lock",),
    LATCH: ("latch",),
    CPU: ("cpu_user", "cpu_system", "run_queue", "throttled", "stolen"),
    LOG: ("log", "disk_write"),
    READS: ("disk_read", "disk"),
    CLIENT: ("client",),
}
# CPUs count as fully used if at most about a sixth of their time is idle.
ALL_BUSY_SHARE = 0.85
# Samples of threads and rounds vary. If an operation takes hardly a tenth longer, no limit can
# be named.
LONGER_MIN = 0.1
# A cause with a smaller share of the growth is no limit by itself.
SHARE_MIN = 0.3
# Other programs that used a larger share of the machine are mentioned.
OTHERS_MIN = 0.1
ALSO_MAX = 2


@dataclass(frozen=True)
class Grown:
    """The growth of one cause of a client's time per successful operation.

    Attributes:
        name: Name of `NAMES`.
        before_s, after_s: Seconds with the fewest clients and with more clients, means over
            rounds.
        share: Share of a client's time with more clients.
        interval: 95 % interval of the share over rounds; None with a single round.
    """

    name: str
    before_s: float
    after_s: float
    share: float
    interval: tuple[float, float] | None

    @property
    def longer_s(self) -> float:
        """The growth in seconds of this cause; negative if the cause shrank."""
        return self.after_s - self.before_s


@dataclass(frozen=True)
class ScalingLimit:
    """The cause that limits how a load scales with the number of clients.

    Attributes:
        name: Name in `NAMES`; None means that operations hardly take longer, or that no cause
            stands out.
        clients, before: Numbers of clients that are compared.
        grown: All causes, the largest growth first.
        statement: Operation and statement whose time grew most, and its growth in seconds.
        claim: The whole claim as a sentence without a full stop.
    """

    name: str | None
    clients: int
    before: int
    grown: tuple[Grown, ...]
    claim: str
    statement: tuple[str, str, float] | None = None


def limit_of(runs: Mapping[int, Sequence[Run]], knee_at: float | None) -> ScalingLimit | None:
    """Return the cause that limits scaling with clients; None if it cannot be determined.

    Args:
        runs: At least one run for each number of clients.
        knee_at: Number of clients from which the limit is searched. None, or more than all
            numbers, means the largest number.
    """
    times = {
        clients: [time for run in own if (time := client_time(run, summary_of(run))) is not None]
        for clients, own in runs.items()
    }
    return limiting({clients: own for clients, own in times.items() if own}, knee_at)


def limiting(
    times: Mapping[int, Sequence[ClientTime]], knee_at: float | None
) -> ScalingLimit | None:
    """Return the cause that limits scaling, from clients' times in each round."""
    if len(times) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    fewest, most = min(times), max(times)
    before, after = times[fewest], times[most]
    grown = _grown(before, after)
    before_s, after_s = _mean_s(before), _mean_s(after)
    longer_s = after_s - before_s
    named = grown[0] if _stands_out(grown[0], before_s, longer_s) else None
    statement = _statement(before, after, None if named is None else named.name)
    grown = _as_commits(grown, named, statement, (before, after))
    named = None if named is None else grown[0]
    whole = f"an operation takes {seconds_text(after_s)} instead of {seconds_text(before_s)}"
    opening = f"with {most} clients {whole}"
    if longer_s < LONGER_MIN * before_s:
        sentence = f"nothing limits up to {most} clients: {whole}"
    elif named is None or named.name == UNKNOWN:
        sentence = f"{opening}, and what for was not measured{_besides(grown)}{_most_in(statement)}"
        named = None
    else:
        sentence = _limit_text(named, statement, opening, longer_s, fewest)
        sentence += _from_knee(times, named, knee_at, (fewest, most))
    sentence = "; ".join((sentence, *_beside(after, None if named is None else named.name)))
    name = None if named is None else named.name
    return ScalingLimit(name, most, fewest, grown, sentence, statement)


def _mean_s(times: Sequence[ClientTime]) -> float:
    return sum(time.operation_s for time in times) / len(times)


def _parts(time: ClientTime) -> dict[str, float]:
    """Return seconds by cause of a client's time; the rest is the unknown cause."""
    seconds = {RETRIES: sum(time.failed_s.values())}
    if time.causes:
        seconds |= {
            name: sum(time.causes.get(cause, 0.0) for cause in causes)
            for name, causes in OF_CAUSES.items()
        }
    seconds[UNKNOWN] = max(0.0, time.operation_s - sum(seconds.values()))
    return seconds


def _grown(before: Sequence[ClientTime], after: Sequence[ClientTime]) -> tuple[Grown, ...]:
    """Return the growth of each cause of client time, the largest growth first.

    Rounds whose time was not split are left out if other rounds with the same number of clients
    were split. If no round of a side was split, only failed attempts are distinguished.
    """
    before, after = _split(before), _split(after)
    if not all(time.causes for time in (*before, *after)):
        before, after = ([replace(time, causes={}) for time in own] for own in (before, after))
    growths = []
    for name in _parts(after[0]):
        shares = mean_of([_parts(time)[name] / time.operation_s for time in after])
        growths.append(
            Grown(
                name,
                sum(_parts(time)[name] for time in before) / len(before),
                sum(_parts(time)[name] for time in after) / len(after),
                shares.value,
                shares.interval,
            )
        )
    return tuple(sorted(growths, key=lambda growth: (-growth.longer_s, growth.name)))


def _split(times: Sequence[ClientTime]) -> Sequence[ClientTime]:
    """Return the client times that were split by cause, or all if none was split."""
    return [time for time in times if time.causes] or times


def _stands_out(first: Grown, before_s: float, longer_s: float) -> bool:
    return longer_s >= LONGER_MIN * before_s and first.longer_s >= SHARE_MIN * longer_s


def _statement(
    before: Sequence[ClientTime], after: Sequence[ClientTime], name: str | None
) -> tuple[str, str, float] | None:
    """Return the statement or the retried operation whose time grew most."""
    if name == RETRIES:
        grown = _growth(
            before, after, lambda time: {(op, ""): s for op, s in time.failed_s.items()}
        )
    else:
        grown = _growth(before, after, lambda time: time.statements)
    if not grown:
        return None
    (operation, statement), longer_s = max(grown.items(), key=lambda pair: (pair[1], pair[0]))
    return (operation, statement, longer_s) if operation and longer_s > 0 else None


def _growth(
    before: Sequence[ClientTime],
    after: Sequence[ClientTime],
    of: Callable[[ClientTime], Mapping[tuple[str, str], float]],
) -> dict[tuple[str, str], float]:
    names = {name for time in after for name in of(time)}
    return {
        name: sum(of(time).get(name, 0.0) for time in after) / len(after)
        - sum(of(time).get(name, 0.0) for time in before) / len(before)
        for name in names
    }


def _as_commits(
    grown: tuple[Grown, ...],
    named: Grown | None,
    statement: tuple[str, str, float] | None,
    rounds: tuple[Sequence[ClientTime], Sequence[ClientTime]],
) -> tuple[Grown, ...]:
    """Return causes, with waits at commits renamed as waits for the log or other commits."""
    if named is None or statement is None or named.name not in (LATCH, LOCK, UNKNOWN):
        return grown
    at_commit = "commit" in statement[1].lower().split() and statement[2] >= named.longer_s / 2
    if not at_commit:
        return grown
    others = tuple(growth for growth in grown if growth is not named)
    if named.name != UNKNOWN:
        return (replace(named, name=COMMIT), *others)
    # Without a split by cause, only the statement's own time is known.
    before, after = ([time.statements.get(statement[:2], 0.0) for time in own] for own in rounds)
    shares = mean_of([s / time.operation_s for s, time in zip(after, rounds[1], strict=True)])
    before_s, after_s = sum(before) / len(before), sum(after) / len(after)
    commits = Grown(COMMIT, before_s, after_s, shares.value, shares.interval)
    rest = replace(
        named,
        before_s=max(0.0, named.before_s - before_s),
        after_s=max(0.0, named.after_s - after_s),
        share=max(0.0, named.share - shares.value),
        interval=None,
    )
    return (commits, *sorted((*others, rest), key=lambda growth: -growth.longer_s))


def _limit_text(
    named: Grown,
    statement: tuple[str, str, float] | None,
    opening: str,
    longer_s: float,
    fewest: int,
) -> str:
    """Return a sentence on the cause that limits scaling, and where it grew most."""
    before = "none" if named.before_s <= 0 else seconds_text(named.before_s)
    sentence = (
        f"{opening}, and what limits is {NAMES[named.name]}: {percent_text(named.share)} of a"
        f" client's time{_interval(named)}, {seconds_text(named.after_s)} an operation ({before}"
        f" with {fewest}), {percent_text(min(1.0, named.longer_s / longer_s))} of what is more"
    )
    return f"{sentence}{_most_in(statement)}"


def _most_in(statement: tuple[str, str, float] | None) -> str:
    """Return text on the statement whose time grew most; empty without one."""
    if statement is None:
        return ""
    operation, name, grown_s = statement
    where = f"statement {name} of {operation}" if name else operation
    return f"; most in {where} (+{seconds_text(grown_s)} an operation of the mix)"


def _interval(named: Grown) -> str:
    if named.interval is None:
        return ""
    low, high = (min(1.0, max(0.0, end)) for end in named.interval)
    return f" [{percent_text(low)}, {percent_text(high)}]"


def _from_knee(
    times: Mapping[int, Sequence[ClientTime]],
    named: Grown,
    knee_at: float | None,
    ends: tuple[int, int],
) -> str:
    """Return text on the size of a cause at the throughput knee, if before the most clients."""
    fewest, most = ends
    from_knee = [n for n in sorted(times) if knee_at is not None and n >= knee_at]
    if knee_at is not None and not from_knee:
        return "; no knee is in the range"
    if not from_knee or from_knee[0] in (fewest, most):
        return ""
    own = _grown(times[fewest], times[from_knee[0]])
    there = next((growth for growth in own if growth.name == named.name), None)
    if there is None:
        return ""
    return f"; at the knee, with {from_knee[0]}, it is {percent_text(there.share)}"


def _besides(grown: Sequence[Grown]) -> str:
    """Return text on the known causes that grew, if the largest cause is unknown."""
    growths = [growth for growth in grown if growth.name != UNKNOWN and growth.longer_s > 0][
        :ALSO_MAX
    ]
    if not growths:
        return ""
    texts = [f"{NAMES[growth.name]} (+{seconds_text(growth.longer_s)})" for growth in growths]
    return f"; what is known to have grown is {' and '.join(texts)}"


def _beside(after: Sequence[ClientTime], name: str | None) -> Iterator[str]:
    """Yield phrases on who used the CPUs and, if the log limits, how busy the disk was."""
    cores = {name: _mean(time.cores.get(name) for time in after) for name in _accounts(after)}
    cpus = after[0].cpus
    if cores and cpus is not None:
        yield _cpu_words(cores, cpus)
    busy = _mean(time.device_busy for time in after)
    if busy is not None and name in (LOG, COMMIT):
        flush_s = _mean(time.flush_s for time in after)
        flush = "" if flush_s is None else f", a flush of it took {seconds_text(flush_s)}"
        yield f"the data's device was busy {percent_text(busy)}{flush}"


def _accounts(after: Sequence[ClientTime]) -> list[str]:
    return list(dict.fromkeys(name for time in after for name in time.cores))


def _mean(values: Iterator[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _cpu_words(cores: Mapping[str, float | None], cpus: int) -> str:
    """Return text on how busy the CPUs were, and with which programs."""
    measured = {name: value for name, value in cores.items() if value is not None}
    whole = sum(measured.values())
    names = {"engine": "engine", "driver": "load generator", "others": "others"}
    parts = ", ".join(f"{names[name]} {value:.2g}" for name, value in measured.items())
    full = " (all of them were busy)" if whole >= ALL_BUSY_SHARE * cpus else ""
    sentence = f"of {cpus_text(cpus)} {whole:.2g} were busy{full}: {parts}"
    if measured.get("driver", 0.0) >= SATURATED_SHARE * cpus / 2 and measured.get(
        "driver", 0.0
    ) > measured.get("engine", 0.0):
        sentence += "; the load generator takes more than the engine"
    if measured.get("others", 0.0) >= OTHERS_MIN * cpus:
        sentence += "; what others took is part of it"
    return sentence
