"""The engine that says which rows are right agrees with the answers that workloads keep.

At scale 1 it was compared by hand with the published answers: all are within the tolerances.
"""

from __future__ import annotations

import pytest

from assay.analysis.answers.comparison import (
    Expected,
    Tolerances,
    difference,
    expected_text,
    read_expected,
)
from assay.running.reference import loading as reference_loading
from assay.running.reference.engine import DIALECT, ReferenceEngine
from assay.workloads.answers import answers_folder
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workloads

# What transactions return depends on those before them: no answers of theirs are kept.
GENERATED = [
    workload
    for workload in find_workloads().values()
    if workload.facts.generator and workload.facts.arrival == "power"
]


def reference(workload: Workload, scale: float, texts: list[str]) -> ReferenceEngine:
    job = {
        "generator": workload.facts.generator,
        "tables": list(workload.facts.tables),
        "scale": scale,
        "threads": 2,
        "sets": 0,
        "queries": workload.row_queries(scale),
        "refresh": None,
    }
    return ReferenceEngine(*reference_loading.loaded(job, texts, lambda *_: None))


@pytest.mark.parametrize("scale", [0.01, 0.1])
@pytest.mark.parametrize("workload", GENERATED, ids=lambda workload: str(workload.facts.name))
def test_it_gives_the_answers_that_are_kept(workload: Workload, scale: float) -> None:
    facts, answers = workload.facts, answers_folder(workload, scale)
    assert answers is not None
    texts = {name: workload.statement(name, (DIALECT,), scale).text for name in facts.order}
    engine = reference(workload, scale, list(texts.values()))
    differences = {}
    for name, text in texts.items():
        answer = engine.answer(text, 0)
        limits = facts.tolerance.sum_absolute, facts.tolerance.ratio_relative
        tolerances = Tolerances.of(facts.operations[name].answer, *limits, scale)
        kept = read_expected(answers / f"{name}.csv")
        differences[name] = difference(answer.rows, kept, tolerances)
        # What is written of it can be read again, and is ordered as it says.
        lines = [
            line.split("|") for line in expected_text(answer.columns, answer.rows).splitlines()
        ]
        rows = tuple(tuple(field or None for field in line) for line in lines[1:])
        again = Expected(kept.columns, rows, tuple(answer.ordered_by))
        assert difference(answer.rows, again, tolerances) is None
        assert set(answer.ordered_by) <= set(kept.columns)
    assert differences == dict.fromkeys(texts, None)
    assert len(texts) == len(set(facts.order))
