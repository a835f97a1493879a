"""`assay generate`: writes the data of a workload to files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.shared.options import AsJson
from assay.cli.shared.output import console, say_result
from assay.cli.shared.scale_name import SCALE, check_scale_name
from assay.model.errors import RunFailedError, stopped_by

DataScale = Annotated[
    float | None,
    typer.Option(
        help="Scale of the data, or --NAME with the workload's own name for it, such as"
        " --products [default: the workload's scale]."
    ),
]


def generate(
    context: typer.Context,
    workload: Annotated[str, typer.Argument(help="Name or folder of a workload.")],
    *,
    out: Annotated[Path, typer.Option(help="Directory to write the files to.", metavar="DIR")],
    scale: DataScale = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="File format [default: nt for RDF, else parquet].",
            metavar="nt|ttl|csv|parquet",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the data, if the generator has one [default: the seed of runs].",
            min=0,
            max=2**64 - 1,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads that generate rows [default: all CPUs].", min=1, max=4_096),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Writes the data of a workload to files, one file for each table.

    Repeated commands write equal files. If an output file exists already, the command ends without
    overwriting it.

    \b
    Examples:
      assay generate bsbm --out data   N-Triples of 1,000 products
      assay generate bsbm --products 28481 --format ttl --out data
      assay generate bsbm --format parquet --out tables   its relational form
      assay generate tpch --scale 0.1 --format csv --out data
      assay generate bsbm --seed 7 --out other      other data of the same kind
    """
    from assay.cli.shared.progress import Progress
    from assay.report.terminal.lists.generate import file_lines
    from assay.verbs.preparing.generate import generate as written_by

    check_scale_name(context.meta[SCALE], workload)
    progress = Progress(console())
    try:
        written = written_by(
            workload,
            out=out,
            scale=scale,
            form=form,
            seed=seed,
            threads=threads,
            teller=progress,
        )
    except KeyboardInterrupt as stop:
        signal_name = stopped_by(stop)
        raise RunFailedError(
            f"stopped by {signal_name}: nothing is left of what was written"
        ) from stop
    finally:
        progress.close()
    files = [asdict(file) for file in written]
    document = {"workload": workload, "files": files}
    say_result(document, lambda: file_lines(files), as_json=as_json)
