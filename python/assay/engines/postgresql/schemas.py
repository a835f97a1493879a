"""A namespace of our own on a server that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engines.contract import EngineError
from assay.engines.postgresql.loading import execute
from assay.engines.postgresql.statements import file_text, filled

if TYPE_CHECKING:
    from assay.engines.contract import Instance

# Of an address, what connections are made by.
DSNS = ("dsn", "dsn_tcp")


def make(instance: Instance, name: str, mark: str) -> bool:
    """Makes the schema and directs connection and address at it. False if it was there.

    Raises:
        EngineError: If something of that name does not carry the mark.
    """
    found = _comment(instance, name)
    if found is not None and found != mark:
        raise EngineError(
            f"the server has a schema {name} that this Assay did not make; it is not touched."
            " Rename or drop it, or name another database in --dsn."
        )
    if found is None:
        with instance.handle.transaction():
            execute(instance.handle, filled("create_schema.sql", name=name))
            execute(instance.handle, filled("comment_schema.sql", name=name, mark=mark))
    _direct(instance, name)
    return found is None


def drop(instance: Instance, name: str, mark: str) -> None:
    """Drops the schema with all that is in it; one that is gone already is no error.

    Raises:
        EngineError: If it does not carry the mark.
    """
    found = _comment(instance, name)
    if found is None:
        return
    if found != mark:
        raise EngineError(f"the schema {name} was not made by this Assay; it is not dropped.")
    execute(instance.handle, filled("drop_schema.sql", name=name))


def _comment(instance: Instance, name: str) -> str | None:
    """None: there is no such schema. Empty: it has no comment."""
    row = instance.handle.execute(file_text("schema_mark.sql"), [name]).fetchone()
    return None if row is None else cast("str | None", row[0]) or ""


def _direct(instance: Instance, name: str) -> None:
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
    """A name for the `options` of a connection: quoted for SQL, blanks and backslashes escaped."""
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted.replace("\\", "\\\\").replace(" ", "\\ ")
