"""The engine `trino` without a cluster: its accounts, its plans, its configuration, its address."""

from __future__ import annotations

import json
import socket
import struct
import threading
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.analysis.cluster.counters import cluster_facts
from assay.analysis.cluster.words import WORDS
from assay.engines.contract import (
    ChecksSettings,
    Clustered,
    EngineError,
    HasCounters,
    HasSessionSettings,
    Product,
    Server,
)
from assay.engines.discovery import find_engine
from assay.engines.loading import BulkLoads, LoadSettings, Prepares, TellsIfItLoads
from assay.engines.plan_reading import HasPlans
from assay.engines.trino import configuration
from assay.engines.trino.connecting import Rest, read_dsn, with_session
from assay.engines.trino.counters import Queries
from assay.engines.trino.explaining import literal
from assay.engines.trino.plans import kept, normalised
from assay.engines.trino.programs import find_programs, property_names
from assay.engines.trino.query_counts import (
    OF_QUERIES,
    nanoseconds,
    node_counts,
    size_bytes,
    stages,
)
from assay.engines.trino.server import explained
from tests.certificates import make_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ACCOUNT = Path(__file__).parents[1] / "native_plans" / "trino" / "q13-account.json"
LOG = (
    "2026-11-22T17:38:00.737Z\tINFO\tmain\tBootstrap\tInitializing logging\n"
    "2026-11-22T17:38:04.477Z\tINFO\tmain\tBootstrap\tPROPERTY                  DEFAULT  RUNTIME"
    "                 DESCRIPTION\n"
    "2026-11-22T17:38:04.478Z\tINFO\tmain\tBootstrap\tdiscovery.uri             ----    "
    " http://127.0.0.1:18080\n"
    "2026-11-22T17:38:04.478Z\tINFO\tmain\tBootstrap\texchange.max-buffer-size  32MB     1MB\n"
    "2026-11-22T17:38:04.478Z\tINFO\tmain\tBootstrap\tnode.location             ----     ----\n"
    "2026-11-22T17:38:04.478Z\tINFO\tmain\tBootstrap\tquery.killer              ----     none  "
    "                  Who is ended first\n"
    "2026-11-22T17:38:18.312Z\tINFO\tmain\tio.airlift.LifeCycleManager\tstarting...\n"
    "2026-11-22T17:38:22.717Z\tINFO\tmain\tBootstrap\tPROPERTY             DEFAULT  RUNTIME\n"
    "2026-11-22T17:38:22.717Z\tINFO\tmain\tBootstrap\thive.storage-format  ORC      PARQUET\n"
)


def account() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(ACCOUNT.read_text(encoding="utf-8"))
    return read


def class_of(*texts: bytes) -> bytes:
    """A class file that has these texts, and constants of other kinds, two places wide ones too."""
    constants = b"\x05" + bytes(8) + b"\x03" + bytes(4)
    constants += b"".join(b"\x01" + struct.pack(">H", len(text)) + text for text in texts)
    return b"\xca\xfe\xba\xbe" + bytes(4) + struct.pack(">H", len(texts) + 4) + constants


CONFIG = class_of(
    b"Lio/airlift/configuration/Config;", b"exchange.max-buffer-size", b"setMaxBufferSize"
)
CLIENT = class_of(b"Lio/airlift/configuration/Config;", b"http-client.idle-timeout")
CATALOG = class_of(b"Lio/airlift/configuration/Config;", b"hive.max-split-size")


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """A directory that looks like Trino's."""
    home = tmp_path / "trino-server-368"
    for place, classes in (
        ("lib/trino-main-368.jar", {"ExchangeConfig.class": CONFIG, "Other.class": b""}),
        ("lib/http-client-213.jar", {"a/HttpClientConfig.class": CLIENT}),
        ("plugin/hive/trino-hive-368.jar", {"HiveConfig.class": CATALOG}),
    ):
        file = home / place
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(file, "w") as jar:
            for name, content in classes.items():
                jar.writestr(name, content)
    return Product("", tmp_path)


def test_it_has_the_abilities_that_are_promised() -> None:
    engine = find_engine("trino").engine()
    for ability in (
        *(Server, Clustered, BulkLoads, Prepares, HasCounters, HasPlans, HasSessionSettings),
        *(LoadSettings, ChecksSettings, TellsIfItLoads),
    ):
        assert isinstance(engine, ability)


def test_each_word_of_a_cluster_is_counted_or_said_to_be_missing() -> None:
    facts = cluster_facts(find_engine("trino").counters())
    assert facts is not None
    assert set(facts.counters) | set(facts.missing) == set(WORDS)
    assert set(facts.counters) <= set(facts.says)


def test_knobs_are_properties_that_are_read_back_by_their_names() -> None:
    knobs = find_engine("trino").knobs().knobs
    assert {"page", "sink", "response", "buffer", "join", "workers"} <= knobs.keys()
    assert all(knob.effective in {None, knob.setting} for knob in knobs.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.00ns", 0), ("107.59us", 107590), ("1.5ms", 1.5e6), ("21.51s", 21.51e9), ("1.26m", 75.6e9)],
)
def test_durations_are_read(text: str, expected: float) -> None:
    assert nanoseconds(text) == pytest.approx(expected)


def test_sizes_are_read() -> None:
    assert (size_bytes("782B"), size_bytes("1.5kB"), size_bytes("2MB")) == (782, 1536, 2 << 20)


@pytest.mark.parametrize("text", ["", "12", "5 parsecs", "-1s"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        nanoseconds(text)


class TestWhatNodesDid:
    def test_pages_bytes_rows_and_waiting_are_of_the_tasks_of_each_node(self) -> None:
        counts = node_counts(account())
        assert {node for node, _ in counts} == {"worker-1", "worker-2"}
        # As the coordinator has it for the whole query.
        assert sum(counts[node, "exchange_bytes"] for node in ("worker-1", "worker-2")) == 38025316
        assert counts["worker-1", "exchange_rows"] == 24 + 78 + 816728
        assert counts["worker-2", "pages"] == 4 + 2 + 4 + 4 + 33
        assert counts["worker-2", "tasks"] == 6
        assert counts["worker-1", "drivers"] == 3 + 4 + 9 + 2 + 2
        waited = 22.04 + 21.82 + 7.10 + 17.86
        assert counts["worker-1", "exchange_wait_ns"] == pytest.approx(waited * 1e9)
        assert counts["worker-1", "output_blocked_ns"] == 0
        assert counts["worker-1", "task_cpu_ns"] == pytest.approx(
            (0.00698 + 0.00294 + 0.62205 + 3.37 + 1.31) * 1e9
        )

    def test_waiting_and_work_of_drivers_fit_into_their_time(self) -> None:
        counts = node_counts(account())
        for node in ("worker-1", "worker-2"):
            parts = ("exchange_wait_ns", "output_blocked_ns", "queued_ns")
            assert sum(counts[node, part] for part in parts) < counts[node, "driver_ns"]

    def test_a_query_without_a_plan_did_nothing(self) -> None:
        assert not node_counts({"outputStage": None})

    def test_what_is_no_account_is_refused(self) -> None:
        with pytest.raises(ValueError, match="the JSON is not a Trino query report"):
            node_counts({"outputStage": {"tasks": [{}], "subStages": []}})


class Coordinator:
    """Answers as one does: a list of queries, and the account of each."""

    def __init__(self) -> None:
        self.queries: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []

    def get(self, path: str) -> Any:
        if path == "/v1/query":
            queries = self.queries.items()
            return [{"queryId": name, "state": row["state"]} for name, row in queries]
        self.asked.append(path)
        return self.queries[path.rpartition("/")[2]]


class TestSumsOverQueries:
    def test_they_grow_while_queries_run_end_and_are_forgotten(self) -> None:
        coordinator = Coordinator()
        coordinator.queries["before"] = account()
        queries = Queries(coordinator)  # type: ignore[arg-type]
        assert not queries.counted()
        half = account() | {"state": "RUNNING", "finalQueryInfo": False}
        half["outputStage"] = half["outputStage"]["subStages"][0]
        coordinator.queries["one"] = half
        running = queries.counted()
        coordinator.queries["one"] = account()
        ended = queries.counted()
        asked = len(coordinator.asked)
        again = queries.counted()
        assert len(coordinator.asked) == asked
        coordinator.queries = {"two": account()}
        both = queries.counted()
        for counter in OF_QUERIES:
            key = "worker-2", counter
            assert running[key] <= ended[key] == again[key]
            assert both[key] == pytest.approx(2 * ended[key])
        assert ended["worker-2", "tasks"] > running["worker-2", "tasks"] > 0


class TestPlans:
    def made(self) -> Any:
        plan_account = account()
        return normalised(
            kept(plan_account | {"stages": list(stages(plan_account))}), "q13", 0, "q13-0.json"
        )

    def test_stages_are_put_together_by_what_they_take_from(self) -> None:
        plan = self.made()
        operators = [node.operator for node in plan.root.walk()]
        assert operators.count("hash join") == 1
        assert operators.count("scan") == 2
        assert {node.object for node in plan.root.walk() if node.operator == "scan"} == {
            "customer",
            "orders",
        }
        assert plan.timed
        assert plan.planning_s == pytest.approx(0.29692 + 0.29238)
        assert plan.execution_s == pytest.approx(12.13)

    def test_rows_are_those_that_a_node_gave_and_estimates_stay_apart(self) -> None:
        nodes = list(self.made().root.walk())
        join = next(node for node in nodes if node.operator == "hash join")
        orders, customers = join.children
        assert join.native == "RightJoin"
        assert orders.rows == 1483918
        assert orders.estimated_rows == 1500000
        assert orders.details["pages"] == 65
        scan = orders.children[0]
        assert (scan.operator, scan.rows, scan.removed_rows) == ("scan", 1483918, 16082)
        # What is no number is no estimate.
        assert customers.children[0].estimated_rows is None
        assert all(node.seconds is None or node.seconds >= 0 for node in nodes)

    @pytest.mark.parametrize("text", ["{}", "[]", '{"stages": [], "query": {}}'])
    def test_what_is_no_plan_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="the text is not a Trino plan"):
            normalised(text, "q", 0, "f")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (Decimal("0.05"), "decimal '0.05'"),
        (date(1998, 12, 1), "date '1998-12-01'"),
        (datetime(1998, 12, 1, 1, 2, 3, 4, tzinfo=UTC), "timestamp '1998-12-01 01:02:03.000004'"),
        ("it's", "'it''s'"),
    ],
)
def test_values_are_written_as_sql_has_them(value: object, written: str) -> None:
    assert literal(value) == written


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be used as a statement's parameter value"):
        literal([1])


class TestSettings:
    def check(self, product: Product, **settings: str) -> None:
        given = find_engine("trino").facts.settings | settings
        settings_known = {name: given[name] for name in ("workers", "heap", *settings)}
        configuration.check(settings_known, find_programs(product))

    def test_names_are_those_of_its_classes_with_what_stands_before_shared_ones(
        self, product: Product
    ) -> None:
        named = {
            "exchange.max-buffer-size": "1MB",
            "exchange.http-client.idle-timeout": "5s",
            "hive.max-split-size": "8MB",
        }
        self.check(product, **named)
        assert find_programs(product).version == "368"

    def test_an_unknown_one_is_refused_with_the_nearest(self, product: Product) -> None:
        with pytest.raises(EngineError, match=r"did you mean 'exchange\.max-buffer-size'"):
            self.check(product, **{"exchange.max-bufer-size": "1MB"})

    @pytest.mark.parametrize(
        ("name", "value", "said"),
        [
            ("workers", "0", "from 1 to 64"),
            ("workers", "many", "from 1 to 64"),
            ("heap", "100MB", r"the minimum is 384MB\."),
            ("heap", "lots", "such as 1GB"),
            ("discovery.uri", "http://x", r"sets discovery\.uri itself"),
            ("management.user", "admin", r"sets management\.user itself"),
            ("http-server.authentication.type", "INSECURE", "itself"),
            ("web-ui.enabled", "true", "itself"),
            ("exchange.max-buffer-size", "1MB\nnode.id=x", "one line"),
        ],
    )
    def test_values_that_cannot_be_are_refused(
        self, product: Product, name: str, value: str, said: str
    ) -> None:
        with pytest.raises(EngineError, match=said):
            self.check(product, **{name: value})

    def test_only_classes_of_configuration_tell_names(self) -> None:
        assert property_names(CONFIG) == {"exchange.max-buffer-size"}
        assert property_names(class_of(b"exchange.max-buffer-size")) == set()

    def test_those_in_effect_are_read_from_a_nodes_log(self) -> None:
        assert configuration.in_effect(LOG) == {
            "discovery.uri": "http://127.0.0.1:18080",
            "exchange.max-buffer-size": "1MB",
            "query.killer": "none",
            "hive.storage-format": "PARQUET",
        }

    def test_a_directory_without_trino_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="has no Trino"):
            find_programs(Product("", tmp_path))

    @pytest.mark.parametrize(
        ("message", "mend"),
        [
            ("the worker-2 ended. There is insufficient memory for the Java", "heap=512MB"),
            ("1) Error: Configuration property 'x' was not used", "leave it out"),
            ("Invalid value '7 apples' for type DataSize", "none that the property takes"),
        ],
    )
    def test_last_words_come_with_the_mend(self, message: str, mend: str) -> None:
        assert mend in explained(message)
        assert message in explained(message)


class TestAddresses:
    def test_a_dsn_names_the_coordinator_and_where_tables_are(self) -> None:
        address = read_dsn("trino://me@db:8081/tpch/sf1")
        assert address["url"] == "jdbc:trino://db:8081/tpch/sf1"
        assert address["properties"] == {"user": "me"}
        assert (address["rest"], address["catalog"], address["schema"]) == (
            "http://db:8081",
            "tpch",
            "sf1",
        )

    def test_a_password_goes_over_tls_only(self) -> None:
        address = read_dsn("trino://me:s%40cret@db/tpch/sf1")
        assert address["url"] == "jdbc:trino://db:8443/tpch/sf1?SSL=true"
        assert address["properties"] == {"user": "me", "password": "s@cret"}
        assert address["rest"] == "https://db:8443"

    def test_a_node_without_tls_is_asked_without_the_password(self) -> None:
        address = read_dsn("trino://me:s%40cret@db/tpch/sf1")
        assert "Authorization" in Rest.of(address).headers
        assert "Authorization" not in Rest.of(address, "http://10.0.0.7:8080").headers

    @pytest.mark.parametrize(
        "dsn", ["trino://db", "trino://db/tpch", "mysql://db/a/b", "trino://:x/a/b", "trino:///a/b"]
    )
    def test_one_that_cannot_be_read_is_refused_without_quoting_it(self, dsn: str) -> None:
        with pytest.raises(EngineError, match="trino://USER@HOST") as raised:
            read_dsn(dsn)
        assert dsn not in str(raised.value)

    def test_sessions_have_the_properties_of_the_dsn_and_of_the_run(self) -> None:
        dsn = "trino://db/tpch/sf1?sessionProperties=task_concurrency:2"
        more = with_session(dsn, {"join_distribution_type": "BROADCAST"})
        assert read_dsn(more)["session"] == "task_concurrency:2;join_distribution_type:BROADCAST"
        again = with_session(more, {"task_concurrency": "4"})
        assert read_dsn(again)["session"] == "join_distribution_type:BROADCAST;task_concurrency:4"

    def test_a_file_of_trusted_certificates_is_read_before_the_server_is_asked(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "trusted"
        dsn = f"trino://me@db/tpch/sf1?SSL=true&SSLTrustStorePath={file}"
        with pytest.raises(EngineError, match="names no file"):
            read_dsn(dsn)
        # The first bytes of a file in Java's own format.
        file.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\x02")
        with pytest.raises(EngineError, match=r"no certificates in the format PEM.*keytool"):
            read_dsn(dsn)
        certificate = make_authority(tmp_path).certificate
        certificate.replace(file)
        assert read_dsn(dsn)["trusted"] == str(file)

    def test_a_property_that_would_be_two_is_refused(self) -> None:
        with pytest.raises(EngineError, match="a session property cannot contain a blank or ';'"):
            with_session("trino://db/tpch/sf1", {"a": "1;b:2"})


@pytest.fixture
def node() -> Iterator[Callable[[list[bytes]], Rest]]:
    """A node that gives these answers to whatever it is asked, on one connection."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answering(answers: list[bytes]) -> Rest:
        def serve() -> None:
            line, _ = listening.accept()
            with line, line.makefile("rb") as asked:
                for answer in answers:
                    while asked.readline().strip():
                        pass
                    line.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        return Rest(f"http://127.0.0.1:{listening.getsockname()[1]}", "assay", None)

    yield answering
    listening.close()


class TestSeveralRequestsAtOnce:
    FIRST = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n1.5"
    SECOND = b'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"used": 7}'

    def test_answers_are_in_the_order_of_requests(self, node: Callable[..., Rest]) -> None:
        rest = node([self.FIRST, self.SECOND, self.SECOND, self.FIRST])
        assert rest.get_all(["/a", "/b"]) == [1.5, {"used": 7}]
        assert rest.get_all(["/b", "/a"]) == [{"used": 7}, 1.5], "the connection is kept"
        rest.close()

    @pytest.mark.parametrize(
        ("answer", "text"),
        [
            (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404"),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "the request for /a failed",
            ),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nword!", "Expecting value"),
            (b"", "the request for /a failed"),
        ],
    )
    def test_what_is_no_answer_is_an_error(
        self, node: Callable[..., Rest], answer: bytes, text: str
    ) -> None:
        with pytest.raises(OSError, match="does not tell its counters") as raised:
            node([answer]).get_all(["/a"])
        assert text in str(raised.value)
