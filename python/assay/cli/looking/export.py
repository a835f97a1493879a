"""`assay export`: writes measurements in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson, RunsDir, WhichRun
from assay.cli.shared.output import say_result


def export(
    which: WhichRun = "latest",
    *,
    to: Annotated[
        str,
        typer.Option(
            help="Format: csv, json or parquet; for a profile folded, firefox, flamegraph or pprof."
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory for the exported tables [default: ./<run id>-<format>], or file for"
            " an exported profile [default: ./<run id>.<format's suffix>]."
        ),
    ] = None,
    operation: Annotated[
        str | None, typer.Option(help="Export only the samples of this operation, such as q09.")
    ] = None,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Writes a run's tables as CSV, JSON or Parquet, or its CPU samples for tools that show them.

    Tables in the directory that have the same names are replaced. A file of an exported profile is
    not overwritten.

    Firefox Profiler opens the format firefox. `pprof` and speedscope open pprof. Scripts and
    speedscope read the format folded. flamegraph is an SVG file for a browser.

    \b
    Examples:
      assay export latest --to csv
      assay export latest --to parquet --out /tmp/tables
      assay export latest --to flamegraph --operation q09 --out q09.svg
    """
    from assay.verbs.export import export as exported

    written = exported(which, to=to, out=out, operation=operation, runs=runs)
    say_result(written.document, lambda: map(str, written.files), as_json=as_json)
