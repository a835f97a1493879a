"""Lists of servers in DSNs of PostgreSQL: which are left after one did not answer."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from assay.engines.contract import EngineError
from assay.engines.postgres_family.choosing import Place, places_of, without_address
from assay.engines.postgres_family.connecting import connect

ADDRESSES = ("192.0.2.1", "192.0.2.2")


@pytest.mark.parametrize(
    ("parameters", "places"),
    [
        ({"host": "a,b", "port": "1,2"}, [("a", "", "1"), ("b", "", "2")]),
        ({"host": "a,b", "port": "1"}, [("a", "", "1"), ("b", "", "1")]),
        ({"host": "a,b"}, [("a", "", ""), ("b", "", "")]),
        ({"hostaddr": "::1,127.0.0.1", "port": "1"}, [("", "::1", "1"), ("", "127.0.0.1", "1")]),
        ({"host": "a,b", "hostaddr": ",::1"}, [("a", "", ""), ("b", "::1", "")]),
        ({"port": "1"}, [("", "", "1")]),
    ],
)
def test_lists_are_read_together(parameters: dict[str, str], places: list[Any]) -> None:
    assert places_of(parameters) == places


class TestWithoutAnAddress:
    @pytest.fixture(autouse=True)
    def names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def answer(host: str, *_: Any, **__: Any) -> list[Any]:
            if host != "both":
                raise OSError
            return [(None, None, None, "", (address, 0)) for address in ADDRESSES]

        monkeypatch.setattr(socket, "getaddrinfo", answer)

    def test_a_server_with_one_address_is_left_out(self) -> None:
        places = [Place("127.0.0.1", "", "1"), Place("127.0.0.1", "", "2"), Place("b", "", "1")]
        left = without_address(places, Place("127.0.0.1", "127.0.0.1", "2"))
        assert left == [places[0], places[2]]

    def test_the_other_addresses_of_a_name_stay(self) -> None:
        places = [Place("a", "", "1"), Place("both", "", "1")]
        left = without_address(places, Place("both", ADDRESSES[0], "1"))
        assert left == [places[0], Place("both", ADDRESSES[1], "1")]
        assert without_address(left, Place("both", ADDRESSES[1], "1")) == [places[0]]

    def test_an_address_of_a_name_is_not_looked_up(self) -> None:
        places = [Place("both", ADDRESSES[1], "1"), Place("both", ADDRESSES[0], "1")]
        left = without_address(places, Place("both", ADDRESSES[0], "1"))
        assert left == places[:1]

    def test_a_port_that_is_not_named_is_the_usual_one(self) -> None:
        places = [Place("127.0.0.1", "", ""), Place("b", "", "")]
        assert without_address(places, Place("127.0.0.1", "127.0.0.1", "5432")) == places[1:]

    def test_a_directory_of_a_socket_is_left_out(self) -> None:
        places = [Place("/run/a", "", "1"), Place("/run/b", "", "1")]
        assert without_address(places, Place("/run/a", "", "1")) == places[1:]

    def test_an_unknown_server_ends_the_attempts(self) -> None:
        assert without_address([Place("a", "", "1")], Place("b", "192.0.2.9", "1")) == []


def test_a_time_limit_that_is_no_number_is_one_clear_error() -> None:
    with pytest.raises(EngineError, match=r"connect_timeout='abc' is not a whole number"):
        connect("host=127.0.0.1 port=1 connect_timeout=abc", "test", "PostgreSQL")


def test_the_environment_has_the_time_limit_that_the_dsn_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "soon")
    with pytest.raises(EngineError, match=r"connect_timeout='soon' is not a whole number"):
        connect("host=127.0.0.1 port=1", "test", "PostgreSQL")
    with pytest.raises(EngineError, match="nothing listens there"):
        connect("host=127.0.0.1 port=1 connect_timeout=5", "test", "PostgreSQL")
