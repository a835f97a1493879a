"""Error classes for failures that the JDBC bridge reports."""

from __future__ import annotations

from assay.engines.contract import EngineError

# SQLSTATE of standard SQL for a broken connection.
CONNECTION_LOST = "08006"
CANNOT_CONNECT = "08001"
GENERAL = "HY000"


class BridgeError(EngineError):
    """An error of the database, of its driver or of the bridge.

    Attributes:
        sqlstate: SQLSTATE of the error; `HY000` if the driver reports none.
        vendor_code: The vendor's error number; 0 without one.
        lost: Whether the connection is broken.
        retryable: Whether the statement may succeed when it is sent again.
    """

    def __init__(
        self,
        message: str,
        sqlstate: str = GENERAL,
        vendor_code: int = 0,
        *,
        lost: bool = False,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.vendor_code = vendor_code
        self.lost = lost
        self.retryable = retryable


def silent(patience_s: float) -> BridgeError:
    """Return the error for a database that takes no connection in time."""
    return BridgeError(
        f"the database did not accept the connection within {patience_s:g} s: check that it is"
        " running, and that the DSN names its host and port",
        CANNOT_CONNECT,
        lost=True,
    )


def gone(reason: object) -> BridgeError:
    """Return the error for a JDBC bridge that does not answer."""
    return BridgeError(
        f"the bridge process of the JDBC driver ended ({reason}): its log has the cause",
        CONNECTION_LOST,
        lost=True,
    )
