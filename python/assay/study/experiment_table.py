"""Writes the table of experiments in docs/numbers/trying.md from their declarations.

`python -m assay.study.experiment_table docs/numbers/trying.md` writes the table into the page.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.finding import BY_PLANS, Advice
from assay.study.experiments.discovery import experiments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.study.experiments.contract import Experiment

# Lines of the page around the table.
BEGIN, END = "<!-- experiments: begin -->", "<!-- experiments: end -->"
HEAD = "| experiment | it changes | how the change is made and undone | through plans only | kept |"
RULE = "|---|---|---|---|---|"


def table_lines() -> Iterator[str]:
    """Yield the lines of the table of experiments, in the order of their kinds."""
    yield HEAD
    yield RULE
    for kind in sorted(experiments()):
        yield _row(experiments()[kind])


def _row(experiment: Experiment) -> str:
    cells = (
        f"`{experiment.kind}`",
        experiment.changes,
        f"{experiment.set_up}; {experiment.undo}",
        _through_plans(experiment),
        "yes" if experiment.stays else "never",
    )
    return f"| {' | '.join(cells)} |"


def _through_plans(experiment: Experiment) -> str:
    """Return text on whether a change has no effect without a new plan."""
    plain, marked = Advice(experiment.kind, ""), Advice(experiment.kind, "", BY_PLANS)
    if experiment.by_plan(plain):
        return "yes"
    return "settings of the optimiser" if experiment.by_plan(marked) else "no"


def with_table(page: str) -> str:
    """Return the text of a page with the present table between its two marks.

    Raises:
        ValueError: If the page lacks a mark.
    """
    before, begin, rest = page.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}")
    table = "\n".join(table_lines())
    return f"{before}{begin}\n{table}\n\n{end}{after}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_table(file.read_text(encoding="utf-8")), encoding="utf-8")
