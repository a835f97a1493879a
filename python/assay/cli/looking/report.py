"""`assay report`: writes the page of a run or a study again."""

from __future__ import annotations

from assay.cli.shared.options import AsJson, RunsDir, WhichRun
from assay.cli.shared.output import say_result


def report(which: WhichRun = "latest", *, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Writes a run's or a study's report again and prints its path: an HTML file for any browser.

    \b
    Examples:
      assay report latest
      assay report runs/studies/20261121T205821976Z-study-tpch-profile-a8e490
    """
    from assay.verbs.report import report as written

    document = written(which, runs=runs)
    say_result(document, lambda: [str(document["report"])], as_json=as_json)
