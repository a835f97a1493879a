"""Probes at work while a block is, and what each cost or why it could not start."""

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
    probes: Sequence[Probe], target: Target, told: dict[str, Any]
) -> Iterator[list[Probe]]:
    """Those of the probes that are at work; the others have nothing to observe, or failed.

    Args:
        probes: Not yet started.
        target: What there is to observe.
        told: What there is to say of each by its name: cost, stream, error, and once the block is
            left all of `Cost`.
    """
    at_work: list[Probe] = []
    with ExitStack() as stack:
        for probe in probes:
            refusal = probe.refusal(target) if isinstance(probe, Refusing) else None
            if not probe.applies(target) and refusal is None:
                continue
            told[probe.name] = {"cost": probe.cost, "stream": probe.stream, "error": refusal}
            if refusal is not None:
                log.warning("probe %s does not run: %s", probe.name, refusal)
                continue
            try:
                probe.start(target)
            except OSError as error:
                log.warning("probe %s does not run: %s", probe.name, error)
                told[probe.name]["error"] = str(error)
            else:
                at_work.append(probe)
                stack.callback(_stop, probe, told[probe.name])
        yield at_work


def _stop(probe: Probe, told: dict[str, Any]) -> None:
    try:
        told.update(asdict(probe.stop()))
    except OSError as error:
        log.warning("probe %s ended badly: %s", probe.name, error)
        told["error"] = str(error)
