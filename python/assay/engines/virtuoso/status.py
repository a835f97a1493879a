"""Parses counters from the text of Virtuoso's `status()`.

The text is written for people and changes from version to version. Each sentence is parsed
separately, and a figure of an unknown sentence is absent.
"""

from __future__ import annotations

import re

_NUMBER = r"(-?\d+)"
# Each `#` is a number, named in the same order; `_` is an unused one.
_SENTENCES = (
    ("File size #, # pages, # free.", "file_bytes pages pages_free"),
    ("# buffers, # used, # dirty # wired down", "buffers buffers_used buffers_dirty buffers_wired"),
    ("Disk Usage: # reads avg # msec", "disk_reads disk_read_mean_ms"),
    (", # writes flush", "disk_writes"),
    ("# read ahead, batch = #", "read_ahead_pages read_ahead_batch"),
    ("Gate: # 2nd in reads, # gate write waits", "gate_second_reads gate_write_waits"),
    ("Clients: # connects, max # concurrent", "connects clients_max"),
    ("RPC: # calls, # pending, # max until now, # queued", "calls _ _ calls_queued"),
    ("Checkpoint Remap # pages, # mapped back", "remap_pages remap_pages_back"),
    ("Lock Status: # deadlocks of which # 2r1w, # waits", "deadlocks deadlocks_2r1w lock_waits"),
    (
        "Currently # threads running # threads waiting # threads in vdb",
        "threads_running threads_waiting threads_in_vdb",
    ),
)
_NONE = "_"
_CLIENT = re.compile(r"^Client \S", re.MULTILINE)
_TRANSACTION = re.compile(r"^Transaction status: (\w+),", re.MULTILINE)
PENDING = "PENDING"
# Maximum digits of a figure: a count of 64 bits has no more.
_DIGITS_MAX = 20


def _pattern(sentence: str) -> re.Pattern[str]:
    patterns = [re.escape(word).replace(r"\#", "#") for word in sentence.split()]
    return re.compile(r"\s+".join(patterns).replace("#", _NUMBER))


_PATTERNS = [(_pattern(sentence), names.split()) for sentence, names in _SENTENCES]


def parse_status(text: str) -> dict[str, float]:
    """Return counters by name from the text of Virtuoso's `status()`.

    Any text is accepted.

    Counts are totals since the server's start; `clients` and `transactions_pending` are for the
    currently connected clients in the text.
    """
    figures: dict[str, float] = {}
    for pattern, names in _PATTERNS:
        match = pattern.search(text)
        numbers = match.groups() if match else ()
        for name, number in zip(names, numbers, strict=False):
            if name != _NONE and len(number) <= _DIGITS_MAX:
                figures[name] = float(number)
    clients = _CLIENT.findall(text)
    if clients:
        states = _TRANSACTION.findall(text)
        figures["clients"] = float(len(clients))
        figures["transactions_pending"] = float(states.count(PENDING))
    return figures
