"""A namespace of our own on a server that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import escaped_option
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.statements import file_text, filled

if TYPE_CHECKING:
    from assay.engines.contract import Instance

# Of an address, what connections are made by.
DSNS = ("dsn", "dsn_tcp")


def mark(instance: Instance, name: str) -> str | None:
    """The schema's comment; None if there is no such schema; empty if it has no comment."""
    row = execute(instance.handle, file_text("schema_mark.sql"), [name]).fetchone()
    return None if row is None else cast("str | None", row[0]) or ""


def lock(instance: Instance, name: str) -> bool:
    """Return True if this connection got the exclusive lock of the schema."""
    row = execute(instance.handle, file_text("lock_schema.sql"), [name]).fetchone()
    return row == (True,)


def make(instance: Instance, name: str, mark: str) -> None:
    """Makes the schema with a comment, in one transaction."""
    import psycopg

    try:
        with instance.handle.transaction():
            execute(instance.handle, filled("create_schema.sql", name=name))
            note(instance, name, mark)
    except psycopg.Error as error:
        raise EngineError(f"the schema {name} cannot be made: {error}") from error


def note(instance: Instance, name: str, mark: str) -> None:
    """Changes the schema's comment."""
    execute(instance.handle, filled("comment_schema.sql", name=name, mark=mark))


def drop(instance: Instance, name: str) -> None:
    """Drops the schema with all that is in it."""
    execute(instance.handle, filled("drop_schema.sql", name=name))


def use(instance: Instance, name: str) -> None:
    """Directs connection and address at the schema."""
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
    """A name for the `options` of a connection, quoted for SQL."""
    return escaped_option('"' + name.replace('"', '""') + '"')
