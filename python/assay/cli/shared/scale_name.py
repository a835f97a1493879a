"""Accepts `--warehouses 10` for `--scale 10`: a workload's own name of its scale as an option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from assay.cli.shared.help import GroupedCommand
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

SCALE = "scale"
# Form of a scale name that can be an option: one word.
WORD = re.compile(r"[A-Za-z]+")
OPTION = re.compile(r"--([A-Za-z]+)(=.*)?")


class NamedScale(GroupedCommand):
    """A command that accepts the workload's own name of its scale as an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        """Replace the workload's own name of its scale by `--scale`."""
        options = {option for parameter in self.params for option in parameter.opts}
        ctx.meta[SCALE] = []
        return super().parse_args(ctx, list(self._plain(args, options, ctx.meta[SCALE])))

    def _plain(self, args: list[str], options: set[str], used: list[str]) -> Iterator[str]:
        names: set[str] | None = None
        for arg in args:
            match = OPTION.fullmatch(arg)
            if match is None or f"--{match[1]}" in options:
                yield arg
                continue
            names = scale_names() if names is None else names
            if match[1].lower() in names:
                used.append(match[1].lower())
                yield f"--{SCALE}{match[2] or ''}"
            else:
                yield arg


def scale_names() -> set[str]:
    """Return the workloads' names of their scale, in lower case, if they are a single word."""
    from assay.workloads.discovery import find_workloads

    names = (workload.facts.scale_name for workload in find_workloads().values())
    return {name.lower() for name in names if WORD.fullmatch(name)}


def check_scale_name(used: list[str], workload: str) -> None:
    """Refuse another workload's name of its scale.

    Raises:
        UsageError: If the name is another workload's; the message has the right name.
    """
    from assay.workloads.discovery import find_workload

    if not used:
        return
    own = find_workload(workload).facts.scale_name.lower()
    for name in used:
        if name not in (own, SCALE):
            mine = f" or --{own}" if WORD.fullmatch(own) and own != SCALE else ""
            raise UsageError(f"--{name} is not an option of {workload}: use --scale{mine}")
    if len(used) > 1:
        raise UsageError(f"--{used[0]} and --{used[1]} are the same: leave one out")
