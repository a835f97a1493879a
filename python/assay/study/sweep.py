"""Makes the study of a sweep: several numbers of clients, scales or option values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.analysis.figures.cluster.nodes import WORKERS
from assay.engines.discovery import find_engine
from assay.engines.knobs import beside_of
from assay.model.errors import UsageError
from assay.model.units import whole_number
from assay.running.asked.parsing import CLIENTS_MAX
from assay.study.asked_study import asked_study, levels_of, varied
from assay.study.declared.facts import SETTING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engines.knobs import Knob
    from assay.study.declared.reading import DeclaredStudy

VERSION = "@"
PART, CLIENTS, ENGINE, SCALE = "sweep", "clients", "engine", "scale"
# Kind of figure for scales.
SCALES = "scales"
# Kind of figure for knobs: their response, and both sides of their trade-off.
TRADE = "trade"
# Kind of figure for numbers of workers.
NODES = "nodes"


@dataclass(frozen=True)
class Sweep:
    """The options of a sweep, such as clients or scales.

    Attributes:
        workload: Name or folder of the workload.
        engines: Engines to run at every level; empty means the default of `assay run`.
        clients: Numbers of clients; a single one is for all runs, empty means the default of
            `assay run`.
        scales: Scales of the data, ascending; a single one is for all runs, empty means the
            workload's own.
        extrapolate: Scales above the largest measured one, which are not run.
        factors: Levels of other options, by factor.
        keys: Keys of every run.
        repetitions: Number of rounds, each with a run at every level.
    """

    workload: str
    engines: tuple[str, ...] = ()
    clients: tuple[int, ...] = ()
    scales: tuple[float, ...] = ()
    extrapolate: tuple[float, ...] = ()
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    repetitions: int = 1


def numbers_of_clients(text: str | None) -> tuple[int, ...]:
    """Return numbers of clients from a comma-separated text; empty for None.

    Raises:
        UsageError: If an entry is not a valid number of clients, or occurs twice.
    """
    if text is None:
        return ()
    numbers = []
    for level in levels_of("--clients ", text):
        number = whole_number(level)
        if number is None or not 1 <= number <= CLIENTS_MAX:
            raise UsageError(
                f"--clients {text}: {level!r} is not a number of clients: write whole numbers "
                f"from 1 to {CLIENTS_MAX:,}, such as 1,2,4,8,16"
            )
        numbers.append(number)
    return tuple(numbers)


def scales_from(option: str, text: str | None) -> tuple[float, ...]:
    """Return scales from a comma-separated text in ascending order; empty for None.

    Args:
        option: Name of the option, for errors.
        text: Value of the option.

    Raises:
        UsageError: If an entry is not a number above 0, or occurs twice.
    """
    if text is None:
        return ()
    scales = []
    for level in levels_of(f"{option} ", text):
        try:
            scale = float(level)
        except ValueError:
            scale = 0.0
        if not 0 < scale < float("inf"):
            raise UsageError(
                f"{option} {text}: {level!r} is not a scale: write numbers above 0, such as "
                "0.1,1,10"
            )
        if scale in scales:
            raise UsageError(f"{option} {text}: {scale:g} is given twice")
        scales.append(scale)
    return tuple(sorted(scales))


def knobs_of(engines: Sequence[str]) -> dict[str, dict[str, Knob]]:
    """Return the engine settings that studies vary (knobs), by engine and by name.

    Args:
        engines: Names, with or without a version; empty if not known.

    Raises:
        UsageError: If Assay knows no engine of this name.
        EngineError: If the `knobs.toml` of an engine cannot be read.
    """
    knobs: dict[str, dict[str, Knob]] = {}
    for name in engines:
        product = name.partition(VERSION)[0]
        for knob, facts in find_engine(product).knobs().knobs.items():
            knobs.setdefault(knob, {})[product] = facts
    return knobs


def turned(
    texts: Sequence[str], engines: Sequence[str], settings: Mapping[str, str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the factors that `--vary` defines, and settings that all runs need for them.

    Args:
        texts: Values of the option.
        engines: Engines of the sweep.
        settings: Settings that the user requested for all runs. The user's settings take
            precedence.

    Raises:
        UsageError: If a text is invalid for `varied`, or if a knob's name means different settings
            in the engines.
    """
    knobs = knobs_of(engines)
    named = {text.partition("=")[0].strip() for text in texts}
    for name in named & set(knobs):
        meant = {product: knob.setting for product, knob in knobs[name].items()}
        if len(set(meant.values())) > 1:
            meanings = ", ".join(f"{setting} of {product}" for product, setting in meant.items())
            raise UsageError(
                f"--vary {name} means a different setting for each engine ({meanings}): sweep "
                "one engine, or name the setting"
            )
    own = {name: next(iter(of.values())).setting for name, of in knobs.items()}
    factors = varied(texts, knobs=own)
    every = [knob for of in knobs.values() for knob in of.values()]
    names = [name.removeprefix(SETTING) for name in factors if name.startswith(SETTING)]
    return factors, {**beside_of(every, names), **settings}


def sweep_study(sweep: Sweep) -> DeclaredStudy:
    """Return the study that measures all levels in alternating order.

    Raises:
        UsageError: If no option varies, or if an option varies that cannot.
    """
    _check_extrapolation(sweep)
    factors = _factors(sweep)
    keys = dict(sweep.keys)
    if len(sweep.engines) == 1:
        keys[ENGINE] = sweep.engines[0]
    if len(sweep.clients) == 1:
        keys[CLIENTS] = sweep.clients[0]
    if len(sweep.scales) == 1:
        keys[SCALE] = sweep.scales[0]
    title = f"{sweep.workload} by {_factor_names(factors)}"
    document = {
        "title": title,
        "workload": sweep.workload,
        "repetitions": sweep.repetitions,
        "seed": keys.get("seed", 1),
        "part": {PART: {**{k: v for k, v in keys.items() if k != "seed"}, "factor": factors}},
        "figure": [
            *(_figure(factor, sweep) for factor in factors if factor != ENGINE),
            *_by_nodes(factors),
            *_grids(factors),
        ],
    }
    name = f"sweep-{sweep.workload.rstrip('/').rpartition('/')[2]}"
    return asked_study(
        name, f"How does {sweep.workload} change with {_factor_names(factors)}?", document
    )


def _factors(sweep: Sweep) -> dict[str, list[Any]]:
    """Return levels by factor: engines first, because they are compared, then varied options."""
    varied: dict[str, list[Any]] = {}
    if len(sweep.clients) > 1:
        varied[CLIENTS] = list(sweep.clients)
    if len(sweep.scales) > 1:
        # Levels are named in short notation: 10, and not 10.0.
        varied[SCALE] = [int(scale) if scale.is_integer() else scale for scale in sweep.scales]
    if CLIENTS in sweep.factors:
        raise UsageError("--vary clients: use --clients with several numbers instead")
    if SCALE in sweep.factors:
        raise UsageError("--vary scale: use --scale with several numbers instead")
    varied |= {factor: list(levels) for factor, levels in sweep.factors.items()}
    for factor, levels in varied.items():
        if len(levels) == 1:
            raise UsageError(
                f"--vary {factor.removeprefix(SETTING)}={levels[0]}: a sweep needs two values "
                "or more: add values, or give this one as an option of the runs"
            )
    if not varied:
        options = [f"--scale {scale:g}" for scale in sweep.scales]
        options += [f"--clients {number}" for number in sweep.clients]
        problem = f"{' '.join(options)}: one level is no sweep" if options else "nothing varies"
        raise UsageError(
            f"{problem}: add --clients 1,2,4,8,16, --scale 1,10 or --vary KEY=VALUE,VALUE; for "
            "a single run, use `assay run`"
        )
    if len(sweep.engines) > 1:
        varied = {ENGINE: list(sweep.engines), **varied}
    return varied


def _check_extrapolation(sweep: Sweep) -> None:
    """Refuse scales that are not an extrapolation.

    Raises:
        UsageError: If there are fewer than two scales, or one is not above those that are run.
    """
    for scale in sweep.extrapolate:
        if len(sweep.scales) < 2:  # noqa: PLR2004 - a line has two points
            raise UsageError(
                f"--extrapolate {scale:g}: a growth law needs measurements at two scales or "
                "more: add --scale 1,10"
            )
        if scale <= sweep.scales[-1]:
            within = "among" if scale in sweep.scales else "no larger than"
            raise UsageError(
                f"--extrapolate {scale:g} is {within} the measured scales, up to "
                f"{sweep.scales[-1]:g}: measure that scale with --scale instead"
            )


def _figure(factor: str, sweep: Sweep) -> dict[str, Any]:
    """Return the chart that shows the effect of a factor in a sweep."""
    name = factor.removeprefix(SETTING)
    if factor == CLIENTS:
        title = "Throughput and latency by clients"
        return {"name": name, "part": PART, "kind": "clients", "title": title}
    options: dict[str, Any] = {"factor": factor}
    if factor == SCALE:
        beyond = {"extrapolate": list(sweep.extrapolate)} if sweep.extrapolate else {}
        return {
            "name": SCALES,
            "part": PART,
            "kind": SCALES,
            "title": "What grows with the data",
            "options": options | beyond,
        }
    return {
        "name": name,
        "part": PART,
        "kind": TRADE,
        "title": f"By {name}",
        "options": options,
    }


def _by_nodes(factors: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the chart of cost and speed-up by number of cluster nodes."""
    if WORKERS in factors:
        title = "What a pass costs by nodes"
        yield {"name": NODES, "part": PART, "kind": NODES, "title": title}


def _grids(factors: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the table of two settings varied together."""
    knobs = [factor for factor in factors if factor not in (ENGINE, CLIENTS, SCALE)]
    if len(knobs) == 2:  # noqa: PLR2004 - rows and columns
        names = [knob.removeprefix(SETTING) for knob in knobs]
        yield {
            "name": "-and-".join(names),
            "part": PART,
            "kind": TRADE,
            "title": f"By {names[0]} and {names[1]}",
            "options": {"factor": knobs[0], "grid": knobs[1]},
        }


def _factor_names(factors: Mapping[str, Any]) -> str:
    names = [factor.removeprefix(SETTING) for factor in factors if factor != ENGINE]
    return " and ".join(names)
