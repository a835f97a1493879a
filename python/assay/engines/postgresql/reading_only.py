"""Makes connections that cannot write: by a session setting, or by read-only transactions.

A pooler refuses or drops session settings, or gives each transaction another connection. Only a
read-only transaction works behind every pooler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.engines.postgresql.connecting import connect, with_options
from assay.engines.postgresql.pooled import is_pooled

if TYPE_CHECKING:
    import psycopg

    from assay.engines.contract import Address

# Setting of every connection of a read-only address.
SETTING, VALUE = "default_transaction_read_only", "on"
BEGIN = "begin read only"
# A pooler's error message for an unknown session setting.
REFUSED = "unsupported startup parameter"
# Keys of an address: the DSN without the setting, and whether each transaction declares itself read
# only.
WITHOUT_SETTING, BY_TRANSACTION = "dsn_without_setting", "reads_only_by_transaction"


def read_only(address: Address) -> Address:
    """Return the server address with read-only connections, and a fallback for poolers."""
    dsn = address["dsn"]
    return {**address, "dsn": with_options(dsn, {SETTING: VALUE}), WITHOUT_SETTING: dsn}


def connected(
    address: Address, purpose: str
) -> tuple[psycopg.Connection[tuple[object, ...]], Address]:
    """Connect to a server; return the connection and the address that worked.

    Raises:
        EngineError: If the server or the pooler refuses; the message has the remedy.
    """
    plain_address = {key: value for key, value in address.items() if key != WITHOUT_SETTING}
    if WITHOUT_SETTING not in address:
        return connect(address["dsn"], purpose), plain_address
    try:
        connection = connect(address["dsn"], purpose)
    except EngineError as error:
        if REFUSED not in str(error):
            raise
    else:
        if not is_pooled(connection):
            return connection, plain_address
        connection.close()
    plain = address[WITHOUT_SETTING]
    return connect(plain, purpose), {**plain_address, "dsn": plain, BY_TRANSACTION: True}
