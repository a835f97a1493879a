"""Threads whose every moment is known, and a probe that looks at them a hundred times a second.

What a thread does is a list of `Doing`; the probe sees of it what the kernel would show, and writes
a row where something changed, as the real one does.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from assay.probes.streams import ACTIVITY, Stream
from assay.record.layout import ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER
from assay.record.reader import Run
from tests.conftest import BEGUN_NS, MS, SyntheticRun, an_event

LOOK_NS = 10 * MS
ON_CPU, QUEUED = "on CPU", "queued"
WORKER = "worker"
FUTEX, EPOLL_WAIT, FDATASYNC, PREAD = 202, 232, 75, 17
ROOT, BACKEND, SESSION_TID, POOL_TID = 100, 110, 211, 212


@dataclass(frozen=True)
class Doing:
    """What a thread does for a while.

    Attributes:
        what: On a CPU, queued for one, or the state in which it sleeps.
        ms: For how long.
        channel, call, address: What the kernel tells of a sleep.
        word: What the engine says it waits for, type and event.
    """

    what: str
    ms: float
    channel: str | None = None
    call: int | None = None
    address: int | None = None
    word: tuple[str, str] | None = None


RUN, QUEUE = Doing(ON_CPU, 1), Doing(QUEUED, 1)
READ = Doing("D", 1, "folio_wait_bit_common", PREAD)
LOG = Doing("D", 1, "jbd2_log_wait_commit", FDATASYNC)
LOCK = Doing("S", 1, "do_epoll_wait", EPOLL_WAIT, word=("Lock", "transactionid"))
CLIENT = Doing("S", 1, "do_epoll_wait", EPOLL_WAIT, word=("Client", "ClientRead"))
GATHER = Doing("S", 1, "do_epoll_wait", EPOLL_WAIT, word=("IPC", "ExecuteGather"))
POOL = Doing("S", 1, "futex_do_wait", FUTEX, address=0x1000)
HELD = Doing("S", 1, "futex_do_wait", FUTEX, address=0x2000)
# Where a session's own thread waits for whatever it waits for.
OWN = Doing("S", 1, "futex_do_wait", FUTEX, address=0x3000)


def lasting(doing: Doing, ms: float) -> Doing:
    """The same for another time."""
    return replace(doing, ms=ms)


def mixed(shares: dict[Doing, float], ms: float, dice: random.Random) -> list[Doing]:
    """Doings in random order and pieces that fill `ms` exactly in these shares."""
    pieces = []
    for doing, share in shares.items():
        left = share * ms
        while left > 1e-9:
            piece = min(left, dice.uniform(0.5, 9.0))
            pieces.append(lasting(doing, piece))
            left -= piece
    dice.shuffle(pieces)
    return pieces


@dataclass
class Thread:
    """One thread from its birth on; after its last doing it is gone, or does that forever."""

    pid: int
    tid: int
    comm: str
    born_ns: int
    doings: Sequence[Doing]
    ends: bool = False
    _begins_ns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        lengths = (round(doing.ms * MS) for doing in self.doings)
        self._begins_ns = list(accumulate(lengths, initial=self.born_ns))
        self._spent = {
            what: list(
                accumulate(
                    (round(doing.ms * MS) if doing.what == what else 0 for doing in self.doings),
                    initial=0,
                )
            )
            for what in (ON_CPU, QUEUED)
        }

    @property
    def ended_ns(self) -> int:
        return self._begins_ns[-1]

    def lives(self, time_ns: int) -> bool:
        return self.born_ns <= time_ns and not (self.ends and time_ns >= self.ended_ns)

    def doing(self, time_ns: int) -> Doing:
        return self.doings[self._place(time_ns)]

    def spent_ns(self, what: str, time_ns: int) -> int:
        """Time on a CPU or queued until then; a queue's is counted when it is over."""
        place = self._place(time_ns)
        before = self._spent[what][place]
        if what == ON_CPU and self.doings[place].what == ON_CPU:
            return before + min(time_ns, self.ended_ns) - self._begins_ns[place]
        return before

    def _place(self, time_ns: int) -> int:
        return min(bisect_right(self._begins_ns, time_ns), len(self.doings)) - 1

    def seen(self, time_ns: int) -> dict[str, Any]:
        doing = self.doing(time_ns)
        asleep = doing.what not in (ON_CPU, QUEUED)
        return {
            "comm": self.comm,
            "state": doing.what if asleep else "R",
            "channel": doing.channel,
            "call": doing.call,
            "address": doing.address,
            "on_cpu_ns": self.spent_ns(ON_CPU, time_ns),
            "run_delay_ns": self.spent_ns(QUEUED, time_ns),
            "timeslices": self._place(time_ns) + 1,
        }


def look_rows(threads: Iterable[Thread], times: Sequence[int]) -> list[dict[str, Any]]:
    """`waits.arrows` of looks at these times."""
    rows = []
    for thread in threads:
        last: dict[str, Any] | None = None
        seen_ns: int | None = None
        for time_ns in times:
            about = {"time_ns": time_ns, "seen_ns": seen_ns, "pid": thread.pid, "tid": thread.tid}
            if not thread.lives(time_ns):
                if last is not None:
                    rows.append(about | last | {"state": "X", "channel": None, "call": None})
                    last = None
                continue
            now = thread.seen(time_ns)
            if now != last:
                rows.append(about | now)
            last, seen_ns = now, time_ns
    return sorted(rows, key=lambda row: row["time_ns"])


def look_times(until_ns: int, dice: random.Random) -> list[int]:
    """About every 10 ms, from before the first operation on."""
    looks = range(BEGUN_NS - 500 * MS, until_ns, LOOK_NS)
    return [time_ns + dice.randrange(MS) for time_ns in looks]


def task_rows(
    events: list[dict[str, Any]], threads: Sequence[Thread], at_work: int | None
) -> list[dict[str, Any]]:
    """Counters at the edges of operations: of live threads, and CPU time of those that ended."""
    rows = []
    for event in events:
        for edge, time_ns in (("start", event["started_ns"]), ("end", event["finished_ns"])):
            born = [thread for thread in threads if thread.born_ns <= time_ns]
            on_cpu_ns = sum(thread.spent_ns(ON_CPU, time_ns) for thread in born)
            delays = (t.spent_ns(QUEUED, time_ns) for t in born if t.lives(time_ns))
            rows.append(
                {
                    "sequence": event["sequence"],
                    "edge": edge,
                    "time_ns": time_ns,
                    "user_ns": on_cpu_ns,
                    "system_ns": 0,
                    "on_cpu_ns": on_cpu_ns,
                    "run_delay_ns": sum(delays),
                    "threads_at_work": at_work if edge == "end" else None,
                }
            )
    return rows


def write_activity(raw: Path, threads: Sequence[Thread], times: Iterable[int]) -> None:
    """What the engine says of its processes; of one that does not wait it has no word."""
    with Stream(raw, "activity", ACTIVITY) as stream:
        for time_ns in times:
            for thread in [thread for thread in threads if thread.lives(time_ns)]:
                leader = BACKEND if thread.comm == WORKER else None
                client = (None, None) if thread.pid == ROOT else (thread.comm, "active")
                who = ("process", leader, *client)
                word = thread.doing(time_ns).word or (None, None)
                stream.push(time_ns, thread.pid, *who, *word, None, None)


def process_rows(threads: Iterable[Thread], account: str, until_ns: int) -> list[dict[str, Any]]:
    """`processes.arrows` with a first and a last sample: all CPU time is in user mode."""
    used_ns: dict[int, int] = {}
    for thread in threads:
        used_ns[thread.pid] = used_ns.get(thread.pid, 0) + thread.spent_ns(ON_CPU, until_ns)
    samples = [
        {"time_ns": BEGUN_NS, "pid": pid, "account": account, "started_ns": 1} for pid in used_ns
    ]
    return [
        *[sample | {"user_ns": 0} for sample in samples],
        *[s | {"user_ns": used_ns[s["pid"]], "time_ns": until_ns} for s in samples],
    ]


@dataclass
class Lab:
    """A run of one operation or more, and its threads; `write` makes the record of it."""

    directory: Path
    kind: str = "server"
    waits: dict[str, Any] | None = None
    at_work: int | None = None
    threads: list[Thread] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    sessions: dict[int, int] = field(default_factory=lambda: {0: BACKEND})
    told_every_ns: int | None = 90 * MS
    dice: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def until_ns(self) -> int:
        return max(event["finished_ns"] for event in self.events) + 500 * MS

    def serial(
        self,
        passes: int,
        ms: float,
        shares: dict[Doing, float],
        *,
        rest: Doing = CLIENT,
        operation: str = "q1",
    ) -> list[Doing]:
        """What the session's thread does through passes of an operation, which are noted."""
        done: list[Doing] = []
        ended_ns = BEGUN_NS
        for _ in range(passes):
            more = [lasting(rest, self.dice.uniform(15.0, 40.0)), *mixed(shares, ms, self.dice)]
            ended_ns += sum(round(doing.ms * MS) for doing in more)
            done += more
            began_ns = ended_ns - round(ms * MS)
            self.events.append(an_event(len(self.events), operation, began_ns, ms))
        return [*done, lasting(rest, 1)]

    def write(self, *, tasks: bool = True, change: Any = None) -> Run:
        """The record; `change(stream, row)` may spoil a row before it is written."""
        times = look_times(self.until_ns, self.dice)
        streams = {"waits": look_rows(self.threads, times), **self.extra}
        if tasks:
            streams["tasks"] = task_rows(self.events, self.threads, self.at_work)
        account = ACCOUNT_ENGINE if self.kind == "server" else ACCOUNT_ENGINE_AND_DRIVER
        streams["processes"] = process_rows(self.threads, account, self.until_ns)
        if self.kind == "server":
            streams["backends"] = [
                {"time_ns": 0, "session": session, "backend_pid": pid}
                for session, pid in self.sessions.items()
            ]
        if change is not None:
            streams = {name: [change(name, row) for row in rows] for name, rows in streams.items()}
        made = SyntheticRun(self.directory, events=self.events, sealed=False)
        made.streams = streams
        made.facts = {"engine": {"kind": self.kind, "waits": self.waits}}
        run = made.write()
        if self.kind == "server" and self.told_every_ns is not None:
            activity_times = range(BEGUN_NS, self.until_ns, self.told_every_ns)
            write_activity(self.directory / made.id / "raw", self.threads, activity_times)
        return run
