"""Finds Spark's jars, and makes the Java commands of its processes.

Processes are started without Spark's scripts, which start an extra Java only to build the command
line.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError

if TYPE_CHECKING:
    from assay.engines.contract import Product

HOST = "127.0.0.1"
_CORE = re.compile(r"spark-core_(?P<scala>[\d.]+)-(?P<version>\d[\w.-]*)\.jar")
# Classes with names of settings: the configuration of Spark itself, and of its SQL.
_NAMED_IN = re.compile(
    r"org/apache/spark/(?:internal/config/|sql/internal/(?:Static)?SQLConf\$|"
    r"network/util/TransportConf|sql/hive/HiveUtils\$).*\.class|"
    r"org/apache/spark/(?:network/util/TransportConf|SparkConf\$)\.class"
)
_FILTER = "org/apache/spark/ui/JWSFilter.class"
_NAMED_JARS = ("spark-core", "spark-catalyst", "spark-sql-api", "spark-hive_", "spark-network")
_NAME = re.compile(rb"(?<![\w.])spark(?:\.[A-Za-z][\w-]*)+")
# Java packages that Spark accesses internally, opened as by its own launcher.
_OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
# Jars of Spark that its JDBC driver needs.
_JDBC = (
    "hive-jdbc-*",
    "hive-service-rpc-*",
    "hive-common-*",
    "hive-serde-*",
    "hive-shims-*",
    "guava-*",
    "failureaccess-*",
    "libthrift-*",
    "spark-hive-thriftserver_*",
    "hadoop-client-api-*",
    "hadoop-client-runtime-*",
    "slf4j-api-*",
    "jcl-over-slf4j-*",
    "spark-common-utils*",
    "scala-library-*",
    "log4j-1.2-api-*",
    "log4j-api-*",
    "log4j-core-*",
    "log4j-slf4j2-impl-*",
    "commons-lang-*",
    "commons-lang3-*",
    "httpclient-*",
    "httpcore-*",
)


@dataclass(frozen=True)
class Programs:
    """An installed Spark with its jars and Java.

    Attributes:
        home: Directory that contains `jars`.
        java: Path of the Java program.
        classes: Archive of classes that Java maps instead of loading them; None without one.
    """

    home: Path
    java: Path
    classes: Path | None = None

    @property
    def version(self) -> str:
        """Return the version of the installed Spark, such as `4.3.0`."""
        return self._core["version"]

    @property
    def class_path(self) -> str:
        """Return the class path that workers give to executors, so that one archive fits all."""
        logging = [str(jar) for jar in sorted(self._jars.glob("slf4j-api-*.jar"))]
        return ":".join([f"{self.home}/conf", *logging, f"{self._jars}/*"])

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables of every Spark process."""
        return {
            "LANG": "C.UTF-8",
            "SPARK_HOME": str(self.home),
            "SPARK_SCALA_VERSION": self._core["scala"],
            "JAVA_HOME": str(self.java.resolve().parents[1]),
            # Otherwise web pages and requests would be served to other hosts.
            "SPARK_LOCAL_IP": HOST,
            "SPARK_PUBLIC_DNS": HOST,
        }

    @property
    def shared(self) -> list[str]:
        """Return Java options for every process, including executors."""
        archive = [f"-XX:SharedArchiveFile={self.classes}"] if self.classes else []
        return ["-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xlog:disable", *archive]

    def command(
        self,
        heap: str,
        main: list[str],
        properties: dict[str, str],
        options: Path | None = None,
        jar: Path | None = None,
    ) -> list[str]:
        """Return the command of one Spark process.

        Args:
            heap: Size of its heap.
            main: Its main class and that class's options.
            properties: Its Java properties.
            options: File with further options, which the command does not show.
            jar: A further jar; it is the last one, so that the archive of classes still fits.
        """
        opened = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
        definitions = [f"-D{name}={value}" for name, value in properties.items()]
        reached = ["-Djdk.reflect.useDirectMethodHandle=false", f"-Xmx{heap}"]
        java = [str(self.java), *self.shared, *opened, *reached, *definitions]
        hidden = [] if options is None else [f"@{options}"]
        classes = self.class_path if jar is None else f"{self.class_path}:{jar}"
        return [*java, *hidden, "-cp", classes, *main]

    def jdbc(self) -> list[Path]:
        """Return the jars of Spark's JDBC driver.

        Raises `EngineError` if the driver does not exist.
        """
        jars = [jar for name in _JDBC for jar in sorted(self._jars.glob(f"{name}.jar"))]
        if not any(jar.name.startswith("hive-jdbc") for jar in jars):
            raise EngineError(
                f"{self._jars} contains no hive-jdbc, which Assay needs for queries: choose a "
                "Spark that was built with the Thrift server, such as the one of PyPI."
            )
        return jars

    def check_filter(self) -> None:
        """Raise `EngineError` if this Spark cannot refuse requests for its web pages."""
        (core,) = self._jars.glob(f"spark-core_{self._core['scala']}-{self.version}.jar")
        with zipfile.ZipFile(core) as archive:
            has_filter = _FILTER in archive.namelist()
        if not has_filter or not any(self._jars.glob("jjwt-impl-*.jar")):
            raise EngineError(
                f"Spark {self.version} serves its web pages without authentication, because it has "
                "no JWSFilter: choose a Spark that has it, such as the one of PyPI."
            )

    @cached_property
    def settings(self) -> frozenset[str]:
        """Return the names of all settings of the installed Spark, read from its classes."""
        jars = [jar for name in _NAMED_JARS for jar in self._jars.glob(f"{name}*.jar")]
        names: set[str] = set()
        for jar in jars:
            with zipfile.ZipFile(jar) as archive:
                for entry in archive.namelist():
                    if _NAMED_IN.fullmatch(entry):
                        names.update(map(bytes.decode, _NAME.findall(archive.read(entry))))
        return frozenset(names)

    @property
    def _jars(self) -> Path:
        return self.home / "jars"

    @cached_property
    def _core(self) -> re.Match[str]:
        for jar in self._jars.glob("spark-core_*.jar"):
            if match := _CORE.fullmatch(jar.name):
                return match
        raise EngineError(
            f"{self.home} has no jars/spark-core_*.jar: the Spark installation is incomplete."
        )


def find_home(product: Product) -> Path:
    """Return the directory below a product's home that contains `jars`.

    Raises `EngineError`.
    """
    if product.home is None:
        raise EngineError("Spark is not installed: install it with `assay engines install`.")
    places = [product.home, product.home.parent, *sorted(product.home.glob("pyspark-*/deps"))]
    for place in places:
        if any((place / "jars").glob("spark-core_*.jar")):
            return place
    raise EngineError(
        f"{product.home} is not a Spark installation: name the directory that contains 'jars' "
        "with --bin-dir."
    )
