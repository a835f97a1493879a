"""An engine or setting measured with several numbers of clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.quantities import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.analysis.figures.subjects import Subject
    from assay.analysis.quantities import Spread
    from assay.analysis.study_runs import StudyRun
    from assay.analysis.sweep.limit import ScalingLimit
    from assay.analysis.sweep.scalability import Quantity, Scaling
    from assay.record.reader import Run


TPS_KEY = "tps"


@dataclass(frozen=True)
class Quantified:
    """A quantity that is charted for each number of clients.

    Attributes:
        key: Second part of a measure's key, after the number of clients.
        title: Title of the quantity for readers.
        head: Heading of the quantity's table column.
        unit: Unit of the quantity, as in `quantities.text`.
        of: Function that returns the quantity of a run.
    """

    key: str
    title: str
    head: str
    unit: str
    of: Callable[[Run], float | None]


@dataclass(frozen=True)
class Swept:
    """An engine or setting with its runs at each number of clients.

    Attributes:
        runs: Runs by number of clients.
        fits: Fitted laws, by the key of the quantity.
        limit: Resource that limits the throughput; None if not known.
    """

    subject: Subject
    runs: dict[int, tuple[StudyRun, ...]]
    fits: dict[str, Scaling]
    limit: ScalingLimit | None

    @property
    def first(self) -> Run:
        """The record of the first run of this engine or setting."""
        return next(iter(self.runs.values()))[0].run

    @property
    def name(self) -> str:
        """The name of the engine or setting."""
        return self.subject.name

    def of(self, what: Quantified, clients: int) -> Spread | None:
        """Return the spread of a quantity over the rounds with a given number of clients."""
        return spread(what.of(run.run) for run in self.runs.get(clients, ()))

    @property
    def knee_at(self) -> Quantity | None:
        """Return the number of clients at the knee of the throughput curve; None without a knee."""
        fit = self.fits.get(TPS_KEY)
        return None if fit is None else fit.knee_at
