"""What is asked for, and the driver's plan that follows from it. Pure: touches nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from assay.model.errors import UsageError
from assay.model.secrets import HIDDEN, is_secret, without_secrets
from assay.model.units import NS_PER_S
from assay.record.layout import PHASE_MEASURED, PHASE_WARMUP

if TYPE_CHECKING:
    from collections.abc import Sequence

# Distinct results of an operation that are kept as rows.
RESULTS_KEPT = 8
PARAMETERS_DEFAULT = "default"
PARAMETERS = (PARAMETERS_DEFAULT, "drawn")


@dataclass(frozen=True)
class RunRequest:
    """One run as asked for.

    Attributes:
        workload: Name of the workload.
        engine: Name of the engine.
        scale: Scale of the data, in the workload's own measure.
        settings: Settings of the engine that differ from its defaults.
        parameters: `default` (the validation values) or `drawn` from the seed.
        seed: Seed of drawn parameters and of mixes.
        min_time_s: Passes are repeated until this much time was measured.
        operation_deadline_s: An operation that takes longer is cancelled; 0: no limit.
        probe_interval_s: Time between two samples of a probe.
    """

    workload: str
    engine: str
    scale: float
    settings: dict[str, str] = field(default_factory=dict)
    parameters: str = PARAMETERS_DEFAULT
    seed: int = 1
    min_time_s: float = 20.0
    operation_deadline_s: float = 0.0
    probe_interval_s: float = 0.1

    def facts(self) -> dict[str, Any]:
        """The request as it stands in the record, without secrets."""
        settings = {
            name: HIDDEN if is_secret(name) else without_secrets(value)
            for name, value in self.settings.items()
        }
        return asdict(self) | {"settings": settings}


def driver_plan(request: RunRequest, order: Sequence[str]) -> dict[str, Any]:
    """The plan for a power order, hot: one untimed, checked pass, then timed ones.

    The keys are those of the driver's plan, where each is explained.
    """
    operations = list(dict.fromkeys(order))
    indices = [operations.index(name) for name in order]
    arrival = {"shape": "power"}
    warmup = {"name": PHASE_WARMUP, "arrival": arrival, "operations": indices, "passes_min": 1}
    measured = {
        "name": PHASE_MEASURED,
        "arrival": arrival,
        "operations": indices,
        "passes_min": 1,
        "duration_ns": round(request.min_time_s * NS_PER_S),
    }
    return {
        "operations": operations,
        "phases": [warmup, measured],
        "seed": request.seed,
        "results_kept": RESULTS_KEPT,
        "operation_deadline_ns": round(request.operation_deadline_s * NS_PER_S),
    }


def parse_settings(texts: Sequence[str]) -> dict[str, str]:
    """Settings from `key=value` texts.

    Raises:
        UsageError: If a text is not of that form or a key is given twice.
    """
    settings: dict[str, str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--set {text}: write it as --set name=value")
        if key.strip() in settings:
            raise UsageError(f"--set {key.strip()} is given twice")
        settings[key.strip()] = value.strip()
    return settings
