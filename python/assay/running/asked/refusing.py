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
    """Refuse a value that is not among the known ones.

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
    """Refuse options that were given for this run and have no effect in it.

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
            raise UsageError(f"{_as_given(options, name)} applies to a test: add --test")
    if mixed:
        for name in _given(given, Needs.ORDER):
            raise UsageError(
                f"{long_name(name)} applies to an order that is repeated; {facts.name} is played"
                f" as a"
                " mix here: say --time"
            )
    else:
        for name in _given(given, *OF_A_MIX):
            raise UsageError(
                f"{long_name(name)} applies to a mix; {facts.name} is played in its order here: add"
                " --clients N to play it as a mix, or say --min-time"
            )
    _check_sequence(options, given, facts)
    if options.fleet is None:
        _check_without_fleet(options)


def _check_beside_test(options: RunOptions, given: Collection[str]) -> None:
    """Refuse options that a specified test does not allow."""
    if "clients" in given:
        raise UsageError(
            "--test and --clients: with clients it is played as a mix, and a test plays orders;"
            " leave one of the two out"
        )
    for name in ("operation", "remove", "statements"):
        if getattr(options, name):
            raise UsageError(
                f"--test and --{name}: a test plays what its specification has; leave one of the"
                " two out"
            )
    for name in _given(given, *OF_A_MIX, Needs.ORDER):
        raise UsageError(
            f"--test and {long_name(name)}: a test is of as many operations as it has; leave one of"
            " the two out"
        )


def _check_sequence(options: RunOptions, given: Collection[str], facts: WorkloadFacts) -> None:
    """Refuse numbers of mixes for clients without a sequence, and drawing options for others."""
    if facts.sequence is None:
        for name in _given(given, Needs.SEQUENCE):
            raise UsageError(
                f"{_as_given(options, name)} applies to clients that play an order by themselves,"
                f" and"
                f" {facts.name} has no [sequence]: say --time or --warmup"
            )
        return
    for name in _given(given, Needs.DRAWN):
        raise UsageError(
            f"{_as_given(options, name)}: clients of {facts.name} play its order by themselves,"
            " each query when the one before was answered: leave it out"
        )
    if options.mixes_max is not None and not options.until_steady:
        raise UsageError(
            "--mixes-max applies to a run that goes on until it is steady: add --until-steady"
        )
    if options.until_steady and "time" in given:
        raise UsageError(
            "--until-steady and --time: such a run ends by its mixes; say --mixes and --mixes-max"
        )
    for name, instead in (("time", "mixes"), ("warmup", "warmup_mixes")):
        if name in given and instead in given:
            raise UsageError(
                f"--{name} and {long_name(instead)}: a part of a run ends by one of them; leave the"
                " other out"
            )


def _check_without_fleet(options: RunOptions) -> None:
    for name in _needing(Needs.FLEET):
        if getattr(options, name):
            raise UsageError(f"{long_name(name)} applies to a fleet: add --fleet")


def _needing(*needs: Needs) -> list[str]:
    """Return the names of options that need one of these kinds of run."""
    fields = RunOptions.model_fields.items()
    return [name for name, field in fields if (option := declared(field)) and option.needs in needs]


def _given(given: Collection[str], *needs: Needs) -> list[str]:
    """Return the given options that need one of these kinds of run."""
    return [name for name in _needing(*needs) if name in given]


def _as_given(options: RunOptions, name: str) -> str:
    """Return an option with its value in command-line form."""
    return f"--no-{long_name(name)[2:]}" if getattr(options, name) is False else long_name(name)
