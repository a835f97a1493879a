"""`assay cache`: lists the data sets cached for later runs, and removes old ones."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.shared.options import AsJson, calls_subcommand
from assay.cli.shared.output import say_result

cache = typer.Typer(rich_markup_mode=None, add_completion=False)


@cache.callback(invoke_without_command=True)
def list_datasets(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the stored data sets with size, time of last use, and name.

    When a run stores a new data set, Assay removes the least recently used data sets. The stored
    data sets together take at most half of the disk space that is free or used by stored data sets.
    The variable ASSAY_CACHE_KEEP sets another limit for stored data sets, such as 20GB.

    \b
    Examples:
      assay cache
      assay cache --json
      assay cache prune --keep 20GB
    """
    if calls_subcommand(context):
        return
    from assay.report.terminal.lists.cache import listed_lines
    from assay.verbs.preparing.cache import cache as there_are

    document = there_are().document
    say_result(document, lambda: listed_lines(document), as_json=as_json)


@cache.command("prune")
def prune_datasets(
    *,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            help="Maximum space of the remaining data sets [default: the usual limit of"
            " stored data sets].",
            metavar="SIZE",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Removes the least recently used data sets, and files that killed processes left.

    A data set that a run is using is not removed. Later runs generate removed data sets again.

    \b
    Examples:
      assay cache prune --keep 20GB
      assay cache prune --keep 0
    """
    from assay.report.terminal.lists.cache import pruned_lines
    from assay.verbs.preparing.cache import prune

    document = prune(keep).document
    say_result(document, lambda: pruned_lines(document), as_json=as_json)
