"""Manages Assay's own schema on a user's server."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import escaped_option
from assay.engines.postgresql.hosts import SESSIONS
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.statements import file_text, filled

if TYPE_CHECKING:
    from assay.engines.contract import Instance

# Keys of an address that are connection strings.
DSNS = ("dsn", "dsn_tcp", SESSIONS)


class PostgresSchemas:
    """Assay's own schema, which its comment marks."""

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the schema's comment; None without a schema, empty without a comment."""
        row = execute(instance.handle, file_text("schema_mark.sql"), [name]).fetchone()
        return None if row is None else cast("str | None", row[0]) or ""

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Return True if this connection got the exclusive lock of the schema."""
        row = execute(instance.handle, file_text("lock_schema.sql"), [name]).fetchone()
        return row == (True,)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Make the schema with a comment, in one transaction."""
        import psycopg

        try:
            with instance.handle.transaction():
                execute(instance.handle, filled("create_schema.sql", name=name))
                self.mark_schema(instance, name, mark)
        except psycopg.Error as error:
            raise EngineError(f"the schema {name} cannot be created: {error}") from error

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Change the schema's comment, which marks it as Assay's."""
        execute(instance.handle, filled("comment_schema.sql", name=name, mark=mark))

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drop the PostgreSQL schema that Assay made, with all its tables."""
        execute(instance.handle, filled("drop_schema.sql", name=name))

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make the schema the default of the connection and the address."""
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        for key in DSNS:
            if key in instance.address:
                dsn = instance.address[key]
                before = str(conninfo_to_dict(dsn).get("options") or "")
                option = f"-c search_path={_escaped(name)}"
                if option not in before:
                    instance.address[key] = make_conninfo(dsn, options=f"{before} {option}".strip())
        execute(instance.handle, filled("search_path.sql", name=name))


def _escaped(name: str) -> str:
    """Return a name for a connection's `options`, quoted for SQL."""
    return escaped_option('"' + name.replace('"', '""') + '"')
