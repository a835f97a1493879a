"""Reads Spark's HTTP interfaces: its master's state, and its driver's monitoring API.

Both interfaces are read without a Spark library, and only from addresses of the cluster.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.engines.network.http_line import HttpLine
from assay.engines.network.tokens import bearer
from assay.engines.spark.connecting import TOKEN

if TYPE_CHECKING:
    from assay.engines.contract import Address

PATIENCE_S = 20.0
OK, MISSING = 200, 404


class Rest:
    """Reads the monitoring API of one Spark driver over HTTP.

    Args:
        host, port: Address of the driver's web interface.
        token: Token that a private cluster requires; None for other clusters.
    """

    def __init__(self, host: str, port: int, token: str | None = None) -> None:
        self._line = HttpLine(host, port, PATIENCE_S)
        self._headers = bearer(token)
        self._application: str | None = None

    @classmethod
    def of(cls, address: Address) -> Rest:
        """Return a reader for the driver of a cluster whose address has its web interface."""
        host, port = address["ui"]
        return cls(host, port, address.get(TOKEN))

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON at a path of the Spark API; None if it does not exist.

        Raises `OSError`.
        """
        if self._application is None:
            applications = self._asked("/api/v1/applications")
            if not applications:
                return None
            self._application = str(applications[0]["id"])
        return self._asked(f"/api/v1/applications/{self._application}/{path}")

    def close(self) -> None:
        """Close the connection to Spark."""
        self._line.close()

    def _asked(self, path: str) -> Any:  # noqa: ANN401 - JSON
        try:
            answer = self._line.ask("GET", path, None, self._headers)
        except TimeoutError as error:
            raise OSError(f"Spark's driver does not tell its state: {error}") from error
        except OSError:
            # The server closes a connection that was idle for long.
            try:
                answer = self._line.ask("GET", path, None, self._headers)
            except OSError as error:
                raise OSError(f"Spark's driver does not tell its state: {error}") from error
        if answer.status == MISSING:
            return None
        if answer.status != OK:
            raise OSError(f"Spark's driver tells no state: {answer.status} {answer.reason}")
        return _read(answer.body)


def fetch(host: str, port: int, path: str, token: str | None = None) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON of one page of a Spark driver.

    Raises `OSError`, and `ValueError` if the answer is not JSON.
    """
    rest = Rest(host, port, token)
    try:
        return rest.get(path)
    finally:
        rest.close()


def master_state(host: str, port: int, token: str) -> dict[str, Any]:
    """Return the state of the master and the workers of a private Spark cluster."""
    line = HttpLine(host, port, PATIENCE_S)
    try:
        state: dict[str, Any] = _read(line.ask("GET", "/json/", None, bearer(token)).body)
    except ValueError as error:
        raise OSError(f"Spark's master does not tell its state: {error}") from error
    finally:
        line.close()
    return state


def _read(body: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the value in a JSON text.

    Raises `ValueError`, also for a text that is nested too deep.
    """
    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error
