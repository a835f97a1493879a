"""`assay runs`: lists all runs."""

from __future__ import annotations

from assay.cli.shared.options import AsJson, RunsDir
from assay.cli.shared.output import say_json, say_lines


def runs(*, runs: RunsDir = None, as_json: AsJson = False) -> None:
    """Lists the runs of a directory, oldest first: state, workload, engine, total time and id.

    The state of a complete run is its verdict. A run that ended early is `stopped`, `failed` or
    `unended`. A run is `refused` if its engine did not accept the requested settings or the
    workload's schema, so that no operation was executed. A run is `unjudged` if no report of it was
    made by this version of Assay. A record is `damaged` if it was changed, `newer` if a newer
    version of Assay wrote it, and `unreadable` if you lack the permission to read it.

    \b
    Examples:
      assay runs
      assay runs --runs /data/runs --json
    """
    if as_json:
        from assay.verbs.runs import runs as listed

        say_json(listed(runs))
    else:
        from assay.record.places import runs_dir
        from assay.record.reader import list_runs
        from assay.report.terminal.lists.runs import record_line

        say_lines(map(record_line, list_runs(runs_dir(runs))))
