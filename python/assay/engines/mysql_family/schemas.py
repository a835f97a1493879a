"""Manages Assay's databases on a user's MySQL server, which a table marks as Assay's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.mysql_family.connecting import error_text
from assay.engines.mysql_family.loading import execute
from assay.engines.mysql_family.statements import filled

if TYPE_CHECKING:
    from assay.engines.contract import Instance

# A lock's name has at most 64 characters, and is shared by all databases of the server.
LOCK_CHARACTERS_MAX = 64
TAKEN = 1


class FamilySchemas:
    """Assay's own schemas: databases with a table that marks them."""

    def schema_mark(self, instance: Instance, name: str) -> str | None:
        """Return the note in Assay's table; None without a database, empty without a note."""
        asked = {"name_text": name}
        if not execute(instance.handle, filled("marks/schema.sql", texts=asked)):
            return None
        if not execute(instance.handle, filled("marks/table.sql", texts=asked)):
            return ""
        rows = execute(instance.handle, filled("marks/read.sql", name=name))
        return str(rows[0][0]) if rows else ""

    def lock_schema(self, instance: Instance, name: str) -> bool:
        """Return True if this connection obtained the exclusive lock on the schema's name."""
        texts = {"lock": f"assay:{name}"[:LOCK_CHARACTERS_MAX]}
        return execute(instance.handle, filled("lock_schema.sql", texts=texts)) == ((TAKEN,),)

    def make_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Make the database, and at once its table with the note."""
        try:
            execute(instance.handle, filled("create_schema.sql", name=name))
            execute(instance.handle, filled("marks/create.sql", name=name))
            self.mark_schema(instance, name, mark)
        except EngineError as error:
            cause = error.__cause__
            said = error_text(cause) if isinstance(cause, Exception) else str(error)
            raise EngineError(f"the database {name} cannot be created: {said}") from error

    def mark_schema(self, instance: Instance, name: str, mark: str) -> None:
        """Write the note."""
        execute(instance.handle, filled("marks/write.sql", texts={"mark": mark}, name=name))

    def drop_schema(self, instance: Instance, name: str) -> None:
        """Drop the MySQL database that Assay made, with all its tables."""
        execute(instance.handle, filled("drop_schema.sql", name=name))

    def use_schema(self, instance: Instance, name: str) -> None:
        """Make the database the default of the connection and the address."""
        instance.address["database"] = name
        instance.handle.select_db(name)
