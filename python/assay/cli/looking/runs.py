"""`assay runs`: lists all runs."""

from __future__ import annotations

from assay.cli.shared.options import AsJson, RunsDir
from assay.cli.shared.output import say_result


def runs(*, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Lists the runs of a directory, oldest first: state, what was run on what, total, id.

    The state is the verdict; of a run that ended early `stopped`, `failed` or `unended`; `refused`
    of one whose engine did not take what was asked for, so that nothing was played; and `unjudged`
    of one that no report was made of since Assay changed.

    \b
    Examples:
      assay runs
      assay runs --runs /data/runs --json
    """
    from assay.report.terminal.lists.runs import listed_lines
    from assay.verbs.runs import runs as listed

    documents = listed(runs)
    say_result(documents, lambda: listed_lines(documents), as_json=as_json)
