"""Runs probes during a block, and records the cost of each, or why it did not start."""

from __future__ import annotations

import logging
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.probes.contract import Refusing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.probes.contract import Probe, Target

log = logging.getLogger(__name__)


@contextmanager
def observed(
    probes: Sequence[Probe], target: Target, probe_facts: dict[str, Any]
) -> Iterator[list[Probe]]:
    """Yield the running probes, and record the cost of each.

    Args:
        probes: Probes, not yet started.
        target: Target of the probes.
        probe_facts: Facts of each probe by its name: cost, stream, error, and after the block all
            fields of `Cost`.
    """
    at_work: list[Probe] = []
    with ExitStack() as stack:
        for probe in probes:
            refusal = probe.refusal(target) if isinstance(probe, Refusing) else None
            if not probe.applies(target) and refusal is None:
                continue
            probe_facts[probe.name] = {"cost": probe.cost, "stream": probe.stream, "error": refusal}
            if refusal is not None:
                log.warning("the probe %s could not start: %s", probe.name, refusal)
                continue
            try:
                probe.start(target)
            except OSError as error:
                log.warning("the probe %s could not start: %s", probe.name, error)
                probe_facts[probe.name]["error"] = str(error)
            else:
                at_work.append(probe)
                stack.callback(_stop, probe, probe_facts[probe.name])
        yield at_work


def _stop(probe: Probe, facts: dict[str, Any]) -> None:
    try:
        facts.update(asdict(probe.stop()))
    except OSError as error:
        log.warning("the probe %s ended with an error: %s", probe.name, error)
        facts["error"] = str(error)
