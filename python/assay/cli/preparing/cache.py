"""`assay cache`: lists the data sets cached for later runs, and removes old ones."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli.shared.options import AsJson
from assay.cli.shared.output import say_result

cache = typer.Typer(rich_markup_mode=None, add_completion=False)


@cache.callback(invoke_without_command=True)
def list_datasets(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Lists the data sets that are kept: size, when a run last used it, name.

    A run that makes a data set removes those that were used longest ago, until all together take
    at most half of the space that would be free without them. ASSAY_CACHE_KEEP=20GB sets another
    limit.

    \b
    Examples:
      assay cache
      assay cache --json
      assay cache prune --keep 20GB
    """
    if context.invoked_subcommand is not None:
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
            help="Space that the remaining ones may take [default: the limit].",
            metavar="SIZE",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Removes the data sets that were used longest ago, and what killed processes left.

    A data set that a run uses now is not removed. Later runs make removed ones again.

    \b
    Examples:
      assay cache prune --keep 20GB
      assay cache prune --keep 0
    """
    from assay.report.terminal.lists.cache import pruned_lines
    from assay.verbs.preparing.cache import prune

    document = prune(keep).document
    say_result(document, lambda: pruned_lines(document), as_json=as_json)
