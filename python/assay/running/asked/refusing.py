"""Refuses options that have no effect in the requested run, and says what to use instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.errors import UsageError
from assay.running.asked.declaring import Needs, declared, long_name
from assay.running.asked.options import RunOptions

if TYPE_CHECKING:
    from collections.abc import Collection

    from assay.workloads.facts import WorkloadFacts

OF_A_MIX = (Needs.MIX, Needs.DRAWN)


def refuse_unknown(options: RunOptions) -> None:
    """Refuse an option's value that is not among the known values.

    Raises:
        UsageError: If the value is unknown. The error message lists the known ones.
    """
    for name, field in RunOptions.model_fields.items():
        option, value = declared(field), getattr(options, name)
        if option and option.choices and value is not None and value not in option.choices:
            there = ", ".join(option.choices)
            raise UsageError(f"{long_name(field.alias or name)} {value}: one of {there}")


def refuse_useless(
    options: RunOptions, given: Collection[str], facts: WorkloadFacts, *, mixed: bool
) -> None:
    """Refuse options that were given for a run in which they have no effect.

    Args:
        options: Values of all options.
        given: Names of the given options. The other options are defaults, which are ignored if they
            have no effect.
        facts: Facts of the workload.
        mixed: Whether the run executes a mix.

    Raises:
        UsageError: If an option has no effect. The error message names the option, where it
            applies, and what to use instead.
    """
    if options.test is not None:
        _check_beside_test(options, given)
    else:
        for name in _given(given, Needs.TEST):
            raise UsageError(f"{_as_given(options, name)} applies to a test only: add --test")
    if mixed:
        for name in _given(given, Needs.ORDER):
            raise UsageError(
                f"{long_name(name)} applies to repeated passes, and this run of {facts.name} "
                "is a mix: use --time"
            )
    else:
        for name in _given(given, *OF_A_MIX):
            raise UsageError(
                f"{long_name(name)} applies to a mix, and this run of {facts.name} repeats "
                "passes: add --clients N to run a mix, or use --min-time"
            )
    _check_sequence(options, given, facts)
    if options.fleet is None:
        _check_without_fleet(options)


def _check_beside_test(options: RunOptions, given: Collection[str]) -> None:
    """Refuse options that a TPC-H test does not allow."""
    if "clients" in given:
        raise UsageError(
            "--test and --clients: --clients makes the workload a mix, and a test runs its "
            "operations in order: remove one of the two"
        )
    for name in ("operation", "remove", "statements"):
        if getattr(options, name):
            raise UsageError(
                f"--test and --{name}: the specification of a test determines its queries: "
                "remove one of the two"
            )
    for name in _given(given, *OF_A_MIX, Needs.ORDER):
        raise UsageError(
            f"--test and {long_name(name)}: the specification of a test determines its length: "
            "remove one of the two"
        )


def _check_sequence(options: RunOptions, given: Collection[str], facts: WorkloadFacts) -> None:
    """Refuse options on query mixes if the workload has none, and the reverse."""
    if facts.sequence is None:
        for name in _given(given, Needs.SEQUENCE):
            raise UsageError(
                f"{_as_given(options, name)} applies to workloads with a [sequence], and "
                f"{facts.name} has none: use --time or --warmup"
            )
        return
    for name in _given(given, Needs.DRAWN):
        raise UsageError(
            f"{_as_given(options, name)}: each client of {facts.name} runs the operations in "
            "order and sends a query when the previous one is answered: remove "
            f"{_as_given(options, name)}"
        )
    if options.mixes_max is not None and not options.until_steady:
        raise UsageError("--mixes-max applies to runs with --until-steady: add --until-steady")
    if options.until_steady and "time" in given:
        raise UsageError(
            "--until-steady and --time: a run with --until-steady ends after a number of "
            "mixes: use --mixes and --mixes-max"
        )
    for name, instead in (("time", "mixes"), ("warmup", "warmup_mixes")):
        if name in given and instead in given:
            raise UsageError(
                f"--{name} and {long_name(instead)} both end the same part of the run: remove "
                "one of the two"
            )


def _check_without_fleet(options: RunOptions) -> None:
    for name in _needing(Needs.FLEET):
        if getattr(options, name):
            raise UsageError(f"{long_name(name)} applies to a fleet: add --fleet")


def _needing(*needs: Needs) -> list[str]:
    """Return the names of options that need certain kinds of run."""
    fields = RunOptions.model_fields.items()
    return [name for name, field in fields if (option := declared(field)) and option.needs in needs]


def _given(given: Collection[str], *needs: Needs) -> list[str]:
    """Return the given options that need certain kinds of run."""
    return [name for name in _needing(*needs) if name in given]


def _as_given(options: RunOptions, name: str) -> str:
    """Return an option with its value in command-line form."""
    return f"--no-{long_name(name)[2:]}" if getattr(options, name) is False else long_name(name)
