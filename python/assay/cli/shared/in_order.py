"""Keeps options of a command in the order in which they were given, across all names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.cli.shared.help import GroupedCommand
from assay.running.asked.declaring import long_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GIVEN = "assay.given"


class InOrder(GroupedCommand):
    """A command that keeps its arguments in the order in which they were typed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        """Keep the arguments before Typer groups them by option."""
        ctx.meta[GIVEN] = list(args)
        return super().parse_args(ctx, args)


def in_order(
    arguments: Sequence[str], values: Mapping[str, Sequence[object]]
) -> Iterator[tuple[str, str]]:
    """Yield options with their values: those from files and the environment first.

    Args:
        arguments: Arguments of the command line.
        values: All values by the option's key: `operation_time` is `--operation-time`.
    """
    keys = {long_name(key): key for key in values}
    asked = [argument.partition("=")[0] for argument in arguments]
    order = [keys[option] for option in asked if option in keys]
    left = {key: [str(value) for value in of_key] for key, of_key in values.items()}
    for key, of_key in left.items():
        while len(of_key) > order.count(key):
            yield key, of_key.pop(0)
    for key in order:
        if left[key]:
            yield key, left[key].pop(0)
