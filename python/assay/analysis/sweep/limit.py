"""What limits a load that is given more clients: what each operation takes longer for.

The numbers of clients from the knee on are compared with the fewest that there were. What a client
spends on an operation that succeeds is split by cause, time in attempts that failed being a cause
of its own, and by statement. What grew most is what limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.figures.metrics import summary_of
from assay.analysis.findings.client.client_bound import SATURATED_SHARE
from assay.analysis.findings.host.processes import cpus_text
from assay.analysis.load.client_time import client_time
from assay.analysis.stats.student import mean_of
from assay.model.units import percent_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.analysis.load.client_time import ClientTime
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
# Parts of an operation's time, by what of them limits; the rest is not known.
OF_CAUSES = {
    LOCK: ("lock",),
    LATCH: ("latch",),
    CPU: ("cpu_user", "cpu_system", "run_queue", "throttled", "stolen"),
    LOG: ("log", "disk_write"),
    READS: ("disk_read", "disk"),
    CLIENT: ("client",),
}
# CPUs are taken to be used up when hardly a sixth of their time is left.
ALL_BUSY_SHARE = 0.85
# Looks at threads are some milliseconds apart and rounds differ: an operation that takes hardly a
# tenth longer is limited by nothing that could be named.
LONGER_MIN = 0.1
# What is less of the growth than this is no limit by itself.
SHARE_MIN = 0.3
# Others that used more of the machine had a part in it.
OTHERS_MIN = 0.1
ALSO_MAX = 2


@dataclass(frozen=True)
class Grown:
    """One cause, for each operation that succeeded.

    Attributes:
        name: Of `NAMES`.
        before_s, after_s: With the fewest clients and with more, mean over rounds.
        share: Of a client's time with more clients.
        interval: 95 % of that over rounds; None of a single one.
    """

    name: str
    before_s: float
    after_s: float
    share: float
    interval: tuple[float, float] | None

    @property
    def longer_s(self) -> float:
        """By how much it grew; below 0 where it shrank."""
        return self.after_s - self.before_s


@dataclass(frozen=True)
class ScalingLimit:
    """What limits.

    Attributes:
        name: Of `NAMES`; None: an operation takes hardly longer, or nothing stands out.
        clients, before: Numbers of clients that are compared.
        grown: Each cause, what grew most first.
        statement: Operation and statement whose time grew most, and by how many seconds.
        words: All that is claimed, as a sentence without its end.
    """

    name: str | None
    clients: int
    before: int
    grown: tuple[Grown, ...]
    words: str
    statement: tuple[str, str, float] | None = None


def limit_of(runs: Mapping[int, Sequence[Run]], knee_at: float | None) -> ScalingLimit | None:
    """What limits runs by their number of clients; None where that cannot be told at all.

    Args:
        runs: At least one of each number.
        knee_at: From here on it is looked for; None, or beyond all: with most clients.
    """
    times = {
        clients: [time for run in own if (time := client_time(run, summary_of(run))) is not None]
        for clients, own in runs.items()
    }
    return limiting({clients: own for clients, own in times.items() if own}, knee_at)


def limiting(
    times: Mapping[int, Sequence[ClientTime]], knee_at: float | None
) -> ScalingLimit | None:
    """The same of what clients spent, over the rounds of each number of clients."""
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
    told = f"with {most} clients {whole}"
    if longer_s < LONGER_MIN * before_s:
        words = f"nothing limits up to {most} clients: {whole}"
    elif named is None or named.name == UNKNOWN:
        words = f"{told}, and what for was not measured{_besides(grown)}{_most_in(statement)}"
        named = None
    else:
        words = _words(named, statement, told, longer_s, fewest)
        words += _from_knee(times, named, knee_at, (fewest, most))
    words = "; ".join((words, *_beside(after, None if named is None else named.name)))
    name = None if named is None else named.name
    return ScalingLimit(name, most, fewest, grown, words, statement)


def _mean_s(times: Sequence[ClientTime]) -> float:
    return sum(one.operation_s for one in times) / len(times)


def _parts(one: ClientTime) -> dict[str, float]:
    """Seconds by cause; what is not known is the rest."""
    told = {RETRIES: sum(one.failed_s.values())}
    if one.causes:
        told |= {
            name: sum(one.causes.get(cause, 0.0) for cause in causes)
            for name, causes in OF_CAUSES.items()
        }
    told[UNKNOWN] = max(0.0, one.operation_s - sum(told.values()))
    return told


def _grown(before: Sequence[ClientTime], after: Sequence[ClientTime]) -> tuple[Grown, ...]:
    """Every cause, what grew most first.

    Rounds whose time was not split are left out where others of the same number were; where none
    was on one of the two sides, nothing but failed attempts is told apart.
    """
    before, after = _split(before), _split(after)
    if not all(one.causes for one in (*before, *after)):
        before, after = ([replace(one, causes={}) for one in own] for own in (before, after))
    found = []
    for name in _parts(after[0]):
        shares = mean_of([_parts(one)[name] / one.operation_s for one in after])
        found.append(
            Grown(
                name,
                sum(_parts(one)[name] for one in before) / len(before),
                sum(_parts(one)[name] for one in after) / len(after),
                shares.value,
                shares.interval,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.longer_s, one.name)))


def _split(times: Sequence[ClientTime]) -> Sequence[ClientTime]:
    """Those whose time was split, if any was."""
    return [one for one in times if one.causes] or times


def _stands_out(first: Grown, before_s: float, longer_s: float) -> bool:
    return longer_s >= LONGER_MIN * before_s and first.longer_s >= SHARE_MIN * longer_s


def _statement(
    before: Sequence[ClientTime], after: Sequence[ClientTime], name: str | None
) -> tuple[str, str, float] | None:
    """What grew most: of conflicts the operation that was made again, else a statement."""
    if name == RETRIES:
        grown = _growth(before, after, lambda one: {(op, ""): s for op, s in one.failed_s.items()})
    else:
        grown = _growth(before, after, lambda one: one.statements)
    if not grown:
        return None
    (operation, statement), longer_s = max(grown.items(), key=lambda one: (one[1], one[0]))
    return (operation, statement, longer_s) if operation and longer_s > 0 else None


def _growth(
    before: Sequence[ClientTime],
    after: Sequence[ClientTime],
    of: Callable[[ClientTime], Mapping[tuple[str, str], float]],
) -> dict[tuple[str, str], float]:
    names = {name for one in after for name in of(one)}
    return {
        name: sum(of(one).get(name, 0.0) for one in after) / len(after)
        - sum(of(one).get(name, 0.0) for one in before) / len(before)
        for name in names
    }


def _as_commits(
    grown: tuple[Grown, ...],
    named: Grown | None,
    statement: tuple[str, str, float] | None,
    rounds: tuple[Sequence[ClientTime], Sequence[ClientTime]],
) -> tuple[Grown, ...]:
    """A wait without a better name that is at commits is one for the log or for other commits."""
    if named is None or statement is None or named.name not in (LATCH, LOCK, UNKNOWN):
        return grown
    at_commit = "commit" in statement[1].lower().split() and statement[2] >= named.longer_s / 2
    if not at_commit:
        return grown
    others = tuple(one for one in grown if one is not named)
    if named.name != UNKNOWN:
        return (replace(named, name=COMMIT), *others)
    # Of what was not split the statement's own time is all that is known.
    before, after = ([one.statements.get(statement[:2], 0.0) for one in own] for own in rounds)
    shares = mean_of([s / one.operation_s for s, one in zip(after, rounds[1], strict=True)])
    before_s, after_s = sum(before) / len(before), sum(after) / len(after)
    commits = Grown(COMMIT, before_s, after_s, shares.value, shares.interval)
    rest = replace(
        named,
        before_s=max(0.0, named.before_s - before_s),
        after_s=max(0.0, named.after_s - after_s),
        share=max(0.0, named.share - shares.value),
        interval=None,
    )
    return (commits, *sorted((*others, rest), key=lambda one: -one.longer_s))


def _words(
    named: Grown,
    statement: tuple[str, str, float] | None,
    told: str,
    longer_s: float,
    fewest: int,
) -> str:
    """What limits, by how much, and most in which statement."""
    before = "none" if named.before_s <= 0 else seconds_text(named.before_s)
    words = (
        f"{told}, and what limits is {NAMES[named.name]}: {percent_text(named.share)} of a client's"
        f" time{_interval(named)}, {seconds_text(named.after_s)} an operation ({before} with"
        f" {fewest}), {percent_text(min(1.0, named.longer_s / longer_s))} of what is more"
    )
    return f"{words}{_most_in(statement)}"


def _most_in(statement: tuple[str, str, float] | None) -> str:
    """What grew most, as it ends a sentence."""
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
    """How much of it there is at the knee, where that is not with most clients."""
    fewest, most = ends
    from_knee = [n for n in sorted(times) if knee_at is not None and n >= knee_at]
    if knee_at is not None and not from_knee:
        return "; no knee is in the range"
    if not from_knee or from_knee[0] in (fewest, most):
        return ""
    own = _grown(times[fewest], times[from_knee[0]])
    there = next((one for one in own if one.name == named.name), None)
    if there is None:
        return ""
    return f"; at the knee, with {from_knee[0]}, it is {percent_text(there.share)}"


def _besides(grown: Sequence[Grown]) -> str:
    """What is known to have grown where the largest part is not known."""
    known = [one for one in grown if one.name != UNKNOWN and one.longer_s > 0][:ALSO_MAX]
    if not known:
        return ""
    each = [f"{NAMES[one.name]} (+{seconds_text(one.longer_s)})" for one in known]
    return f"; what is known to have grown is {' and '.join(each)}"


def _beside(after: Sequence[ClientTime], name: str | None) -> Iterator[str]:
    """Who had the CPUs, and, where the log limits, how busy the disk was."""
    cores = {name: _mean(one.cores.get(name) for one in after) for name in _of_cores(after)}
    cpus = after[0].cpus
    if cores and cpus is not None:
        yield _cpu_words(cores, cpus)
    busy = _mean(one.device_busy for one in after)
    if busy is not None and name in (LOG, COMMIT):
        flush_s = _mean(one.flush_s for one in after)
        flush = "" if flush_s is None else f", a flush of it took {seconds_text(flush_s)}"
        yield f"the data's device was busy {percent_text(busy)}{flush}"


def _of_cores(after: Sequence[ClientTime]) -> list[str]:
    return list(dict.fromkeys(name for one in after for name in one.cores))


def _mean(values: Iterator[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def _cpu_words(cores: Mapping[str, float | None], cpus: int) -> str:
    """How busy the CPUs were, and with whom."""
    known = {name: value for name, value in cores.items() if value is not None}
    whole = sum(known.values())
    names = {"engine": "engine", "driver": "load generator", "others": "others"}
    each = ", ".join(f"{names[name]} {value:.2g}" for name, value in known.items())
    full = " (all of them were busy)" if whole >= ALL_BUSY_SHARE * cpus else ""
    words = f"of {cpus_text(cpus)} {whole:.2g} were busy{full}: {each}"
    if known.get("driver", 0.0) >= SATURATED_SHARE * cpus / 2 and known.get(
        "driver", 0.0
    ) > known.get("engine", 0.0):
        words += "; the load generator takes more than the engine"
    if known.get("others", 0.0) >= OTHERS_MIN * cpus:
        words += "; what others took is part of it"
    return words
