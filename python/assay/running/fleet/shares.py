"""Splits a load plan's sessions among client hosts."""

from __future__ import annotations

from itertools import pairwise

from assay.model.errors import UsageError


def split(sessions: int, hosts: int) -> list[range]:
    """Return the session numbers of each client host, split as evenly as possible.

    Raises:
        UsageError: If the run has fewer sessions than hosts.
    """
    if sessions < hosts:
        raise UsageError(
            f"--fleet: {hosts} hosts for {sessions} client{'s' * (sessions != 1)}: each host "
            f"needs at least one client: use --clients {hosts} or more"
        )
    fewest, more = divmod(sessions, hosts)
    edges = [0]
    for host in range(hosts):
        edges.append(edges[-1] + fewest + (host < more))
    return [range(first, last) for first, last in pairwise(edges)]
