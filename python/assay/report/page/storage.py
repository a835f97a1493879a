"""Values of a page's template for the disk with the data and the CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.report.words.loads import requests as requests_text
from assay.report.words.storage import COLUMNS, notes, rows, value_text

if TYPE_CHECKING:
    from assay.report.documents.host.storage import RequestsSection
    from assay.report.documents.run import RunDocument

ABOUT = (
    "CPU utilisation as in mpstat, requests, rate and size of the I/O of {device} as in iostat,"
    " at intervals of {interval_s:g} s. The data are on this device; requests of other "
    "programs are included."
)


def storage_words(document: RunDocument) -> dict[str, object] | None:
    """Return the chart's text and the table of disk use by operation; None if not measured."""
    storage = document["storage"]
    if storage is None:
        return None
    return {
        "about": ABOUT.format(**storage),
        "columns": COLUMNS,
        "rows": [(name, [_cell(value) for value in values]) for name, values in rows(storage)],
        "notes": notes(storage),
        "requests": _requests(storage["requests"]),
        "why_no_requests": storage["requests_reason"],
    }


def _requests(requests: RequestsSection | None) -> dict[str, object] | None:
    if requests is None:
        return None
    return {
        "about": requests_text.about(requests),
        "columns": requests_text.COLUMNS,
        "rows": [
            (name, [_cell(value) for value in values])
            for name, values in requests_text.rows(requests)
        ],
    }


def _cell(value: float | None) -> dict[str, object]:
    missing = value is None
    return {"value": "" if missing else value, "text": value_text(value), "missing": missing}
