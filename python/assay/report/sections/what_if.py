"""Makes the document section `what_if`: how operations' times affect metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from assay.analysis.whatif import measured_of, sensitivity, worth
from assay.analysis.whatif.metrics import Metric, metrics_of
from assay.analysis.whatif.resampling import PASSES_MIN, passes_of
from assay.report.sections.specified import judged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.analysis.summary import Summary
    from assay.analysis.whatif.timing import Measured
    from assay.model.verdict import CheckResult
    from assay.record.reader import Run
    from assay.report.documents.figures import MetricKey, MetricUnit
    from assay.report.documents.what_if import SensitivityRow, WhatIfMetric, WhatIfSection, WorthRow


def judged_of(run: Run, summary: Summary, checks: Iterable[CheckResult]) -> Measured:
    """Return the measured times for predictions, with the metric names that checks allow."""
    made = measured_of(run, summary)
    return made if made.test is None else replace(made, test=judged(made.test, checks))


def what_if(measured: Measured) -> WhatIfSection | None:
    """Return each operation's weight in metrics, and the gain of removing each cause.

    The result is None if an operation has no time, because then no metric has a value.
    """
    weighed = sensitivity(measured)
    if not weighed:
        return None
    seconds = [operation.seconds for operation in measured.operations]
    passes = passes_of(measured)
    return {
        "cores": measured.cores,
        "passes": passes if passes >= PASSES_MIN else 0,
        "metrics": [_metric(metric, seconds) for metric in metrics_of(measured)],
        "sensitivity": [cast("SensitivityRow", operation.facts()) for operation in weighed],
        "worth": [cast("WorthRow", cause.facts()) for cause in worth(measured)],
    }


def _metric(metric: Metric, seconds: list[float]) -> WhatIfMetric:
    return {
        "metric": cast("MetricKey", metric.name),
        "label": metric.label,
        "title": metric.title,
        "unit": cast("MetricUnit", metric.unit),
        "better": metric.better,
        "value": metric.value(seconds),
    }
