"""Finds the sections of a study that change the host, which needs permission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.study.declared.facts import PartFacts, QuickPart, run_keys
from assay.study.declared.levels import level_of, merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.study.declared.facts import StudyFacts

ALLOWED = "allow_host_changes"
# Keys of a run that always affect other users of the host.
NOTICED = ("read_ahead", "device")


def forbidden(study: StudyFacts, part: PartFacts) -> str | None:
    """Return why a study section without permission is left out; None if it runs.

    If the file itself gives the permission, its author has allowed the changes.
    """
    tables = list(_tables(study, part))
    if any(table.get(ALLOWED) for table in tables):
        return None
    keys = [key for key in NOTICED if any(table.get(key) is not None for table in tables)]
    if not keys:
        return None
    return (
        f"it changes what others on this host notice ({', '.join(keys)}):"
        " --allow-host-changes takes it in"
    )


def with_permission(keys: Mapping[str, Any], *, allowed: bool) -> dict[str, Any]:
    """Return a run's keys with the permissions that the user gave for all runs."""
    return merged(keys, {ALLOWED: True}) if allowed else dict(keys)


def _tables(study: StudyFacts, part: PartFacts) -> Iterator[Mapping[str, Any]]:
    """Yield all tables of a study file that affect the runs of one section."""
    yield run_keys(study)
    yield run_keys(part)
    for factor, values in part.factor.items():
        yield from (level_of(factor, value).keys for value in values)
    if isinstance(part.quick, QuickPart):
        yield run_keys(part.quick)
