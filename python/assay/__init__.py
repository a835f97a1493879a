"""Assay measures database engines and explains the measurement.

`assay.load("latest").charts` gives a run's charts in a notebook. Each verb of the command line is a
function, too: `assay.run("tpch", scale=0.1)`, `assay.sweep("tpcc", clients=[1, 2, 4])`,
`assay.explain("latest")`; they are in `assay.verbs`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from assay.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from assay.report.notebook import LoadedRun

# Verbs by whose name there is a package, too.
PACKAGES = frozenset({"engines", "report", "study", "workloads"})


def load(run: str = "latest", runs: str | Path | None = None) -> LoadedRun:
    """Opens a finished run for a notebook: its tables, its summary and its charts.

    Warns with `assay.record.damage.DamagedRecordWarning` if the record was changed after it was
    sealed.

    Args:
        run: `latest`, an id, the beginning of an id, or a path.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Raises:
        RecordUnreadableError: If no run has this name, or its record is damaged.
    """
    from assay.report.notebook import load_run

    return load_run(run, runs)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whichever verb
    """Return a verb of `assay.verbs`, which is imported at its first use."""
    if name.startswith("_"):
        raise AttributeError(name)
    from assay.verbs import function_of

    return function_of(name)


def __dir__() -> list[str]:
    from assay.verbs import names

    return sorted({*globals(), *names()})


class _CallablePackage(ModuleType):
    """A package that can be called like the command of its name: `assay.report("latest")`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the verb's own
        from assay.verbs import function_of

        return function_of(self.__name__.removeprefix("assay."))(*arguments, **options)


class _Assay(ModuleType):
    """The package itself: the import system gives it its subpackages as attributes."""

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - whatever is set
        if name in PACKAGES and isinstance(value, ModuleType):
            value.__class__ = _CallablePackage
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Assay
