"""A command: its help has options in groups, at 80 columns, and it may ask for a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from assay.cli.shared.asking import is_asked, read_password
from assay.cli.shared.names import prefix_of
from assay.engines.typed_password import keep_typed
from assay.running.asked.declaring import Group

if TYPE_CHECKING:
    from collections.abc import Iterator

# Heading of options in commands without groups.
PLAIN = "Options"
OF_ENVIRONMENT = (
    "Each option has a default in assay.toml, [{verb}], or in the environment, as"
    " {prefix}_<OPTION>."
)


class GroupedCommand(TyperCommand):
    """A command whose help lists options by group and name.

    With `--ask-password`, the command first asks for a password.
    """

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        """Execute the command, and return its result."""
        if not is_asked(ctx):
            return super().invoke(ctx)
        with keep_typed(read_password(self.name or "", ctx.params)):
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """Write arguments, and then each group of options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for title, record in self._records(ctx):
            sections.setdefault(title, []).append(record)
        order = ("Arguments", PLAIN, *Group)
        for title in sorted(sections, key=order.index):
            records = sections[title]
            with formatter.section(title):
                formatter.write_dl(sorted(records) if title in tuple(Group) else records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """Write one sentence on how to set defaults of all options."""
        formatter.write_paragraph()
        formatter.write_text(
            OF_ENVIRONMENT.format(verb=ctx.info_name, prefix=prefix_of(ctx.info_name))
        )

    def _records(self, ctx: Any) -> Iterator[tuple[str, tuple[str, str]]]:  # noqa: ANN401
        """Yield each parameter's section and its help text."""
        parameters: list[Any] = self.get_params(ctx)
        grouped = any(getattr(parameter, "rich_help_panel", None) for parameter in parameters)
        for parameter in parameters:
            # The variables are described once for all, at the end.
            parameter.show_envvar = False
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                yield "Arguments", record
            else:
                is_help = parameter.name == "help"
                rest = Group.OUTPUT if grouped and is_help else PLAIN
                yield getattr(parameter, "rich_help_panel", None) or rest, record
