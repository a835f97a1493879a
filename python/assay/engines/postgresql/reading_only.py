"""Connections that cannot write: by a setting of the session, or by a transaction around each work.

A pooler refuses or drops settings of a session, or gives each transaction another connection. What
holds behind every pooler is a transaction that begins as one that only reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, with_options
from assay.engines.postgresql.pooled import is_pooled

if TYPE_CHECKING:
    import psycopg

    from assay.engines.contract import Address

# What every connection of an address is told that may only read.
SETTING, VALUE = "default_transaction_read_only", "on"
BEGIN = "begin read only"
# How a pooler refuses a setting of the session that it does not know.
REFUSED = "unsupported startup parameter"
# Keys of an address: the DSN without the setting; that each transaction says that it only reads.
WITHOUT_SETTING, BY_TRANSACTION = "dsn_without_setting", "reads_only_by_transaction"


def read_only(address: Address) -> Address:
    """Return the address whose connections read only, and what to do where a pooler is between."""
    dsn = address["dsn"]
    return {**address, "dsn": with_options(dsn, {SETTING: VALUE}), WITHOUT_SETTING: dsn}


def connected(
    address: Address, purpose: str
) -> tuple[psycopg.Connection[tuple[object, ...]], Address]:
    """Connect; return the connection and the address by which others connect in the same way.

    Raises:
        EngineError: If the server or the pooler refuses, with the mend.
    """
    known = {key: value for key, value in address.items() if key != WITHOUT_SETTING}
    if WITHOUT_SETTING not in address:
        return connect(address["dsn"], purpose), known
    try:
        connection = connect(address["dsn"], purpose)
    except EngineError as error:
        if REFUSED not in str(error):
            raise
    else:
        if not is_pooled(connection):
            return connection, known
        connection.close()
    plain = address[WITHOUT_SETTING]
    return connect(plain, purpose), {**known, "dsn": plain, BY_TRANSACTION: True}
