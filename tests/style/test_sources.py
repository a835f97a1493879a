"""Style is a test: what a reader of this project may rely on, in every file of it.

A list of exceptions also fails when an exception is no longer needed.
"""

from __future__ import annotations

import ast
import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from assay.cli.shared.verbs import VERBS, module_name
from tests.conftest import HERE, LONG, long_tests
from tests.style import sources
from tests.style.sources import PACKAGE, ROOT, python_files, relative, rust_files

LINES_PER_FUNCTION_MAX = 70
# Functions that are longer, with the reason: `file:function`.
LONG_FUNCTIONS: dict[str, str] = {}

SQL = re.compile(
    r"(?is)\b(?:select\s+(?:.+?\s+from\s+\w|[\d*'])|insert\s+into\s+\w|update\s+\w+\s+set\s"
    r"|delete\s+from\s+\w|(?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:table|view|index|schema)\s)"
)
# Sources with SQL in them, with the reason.
SQL_IN_SOURCES: dict[str, str] = {}

NAMES_THAT_SAY_NOTHING = {
    "manager",
    "managers",
    "helper",
    "helpers",
    "util",
    "utils",
    "common",
    "base",
    "handler",
    "handlers",
    "processor",
    "processors",
    "misc",
}

# Files that are named after something that the field calls so.
TERMS_OF_THE_FIELD = {
    "python/assay/analysis/findings/memory/buffer_manager.py": "part of an engine"
}

# The only modules that know the compiled core, beside the `engine.py` of engines.
KNOW_THE_CORE = {
    "assay.probes.profile",
    "assay.probes.requests",
    "assay.probes.sampled",
    "assay.probes.streams",
    "assay.running.asked.checking",
    "assay.study.ceiling.measuring",
    "assay.running.processes.host",
    "assay.running.mixes",
    "assay.running.data.page_cache",
    "assay.running.processes.slower",
    "assay.workloads.texts",
    "assay.workloads.generate",
}
READ_RECORDS_ONLY = ("model", "record", "analysis", "checks", "report", "ui")
ROOM_MAX = 25


def all_functions() -> list[sources.Function]:
    functions = [function for path in python_files() for function in sources.python_functions(path)]
    for path in rust_files():
        functions += sources.rust_functions(relative(path), path.read_text("utf-8"))
    return functions


def test_functions_fit_on_a_screen() -> None:
    long = {f.key for f in all_functions() if f.lines > LINES_PER_FUNCTION_MAX}
    assert long == set(LONG_FUNCTIONS)


def test_sql_lives_in_files() -> None:
    texts = {relative(path): list(sources.python_texts(path)) for path in python_files()}
    texts |= {relative(p): list(sources.rust_texts(p.read_text("utf-8"))) for p in rust_files()}
    files = {file for file, literals in texts.items() if any(SQL.search(text) for text in literals)}
    assert files == set(SQL_IN_SOURCES)


@pytest.mark.parametrize("path", python_files(), ids=relative)
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(sources.tree(path))


def test_every_crate_and_rust_module_says_what_it_is() -> None:
    silent = [relative(p) for p in rust_files() if not p.read_text("utf-8").startswith("//!")]
    assert silent == []


def test_library_code_never_prints() -> None:
    printing = {
        relative(path)
        for path in python_files()
        for node in sources.nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    }
    assert {file for file in printing if not file.startswith("python/assay/cli/")} == set()


def test_sql_is_parsed_without_warnings() -> None:
    """Only `model.sql` calls the SQL parser, because it silences the parser's warnings."""
    calls = re.compile(r"\bsqlglot\.(?:parse|parse_one|transpile)\(")
    texts = {relative(path): path.read_text("utf-8") for path in python_files()}
    calling = {file for file, text in texts.items() if calls.search(text)}
    assert calling == {"python/assay/model/sql.py"}


def test_names_of_files_say_something() -> None:
    names = {relative(path): set(path.stem.split("_")) for path in [*python_files(), *rust_files()]}
    names |= {relative(p): set(p.name.split("_")) for p in PACKAGE.rglob("*") if p.is_dir()}
    silent = {file for file, parts in names.items() if parts & NAMES_THAT_SAY_NOTHING}
    assert silent == set(TERMS_OF_THE_FIELD)


def test_only_a_handful_of_modules_know_the_compiled_core() -> None:
    def knows(path: Path) -> bool:
        return any(
            name == "assay._core" or name.startswith("assay._core.")
            for name in sources.imports(path)
        )

    engines = set(PACKAGE.glob("engines/*/*.py"))
    knowing = {path for path in python_files() if knows(path)}
    assert {sources.module_name(path) for path in knowing - engines} == KNOW_THE_CORE


def test_none_of_them_reads_records() -> None:
    readers = {name for name in KNOW_THE_CORE if name.split(".")[1] in READ_RECORDS_ONLY}
    assert readers == set()


class TestDeadFiles:
    """Every module is imported, found by scanning its folder, or started."""

    def entries(self) -> set[str]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        makefile = (ROOT / "Makefile").read_text("utf-8")
        made = re.findall(r"python/(assay/[\w/]+)\.py", makefile)
        made += re.findall(r"-m (assay[\w.]+)", makefile)
        commands = {target.partition(":")[0] for target in project["scripts"].values()}
        verbs = {module_name(name) for name in VERBS}
        verbs |= {f"assay.cli.shared.{verb.kind[0]}" for verb in VERBS.values()}
        return commands | verbs | {path.replace("/", ".") for path in made}

    def found_by_scanning(self, path: Path) -> bool:
        top = {node.name for node in sources.tree(path).body if isinstance(node, ast.FunctionDef)}
        for node in sources.tree(path).body:
            if isinstance(node, ast.Assign):
                top |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        match path.relative_to(PACKAGE).parts:
            case ("checks", _) | ("checks", "ceiling" | "observed", _):
                return "check" in top
            case ("analysis", "figures" | "findings", *_):
                return bool({"figure", "find"} & top)
            case ("probes", _) | ("study", "experiments", *_):
                return bool({"probe", "experiment"} & top)
            case ("engines", "providers", _):
                return "provider" in top
            case ("engines", _, "engine.py"):
                return "engine" in top and (path.parent / "engine.toml").is_file()
        return False

    def test_there_are_none(self) -> None:
        imported = {name for path in python_files() for name in sources.imports(path)}
        started = {text for path in python_files() for text in sources.python_texts(path)}
        alive = imported | started | self.entries()
        dead = [
            sources.module_name(path)
            for path in python_files()
            if path.name != "__init__.py"
            and sources.module_name(path) not in alive
            and not self.found_by_scanning(path)
        ]
        assert dead == []

    def test_every_rust_file_is_a_module_of_its_crate(self) -> None:
        dead = []
        for path in rust_files():
            declared = re.compile(
                rf"\bmod {path.parent.name if path.stem == 'mod' else path.stem}\s*[;{{]"
            )
            crate = next(p for p in path.parents if p.name == "src")
            others = [other for other in crate.rglob("*.rs") if other != path]
            is_root = path.stem in {"lib", "main"} and path.parent == crate
            if not is_root and not any(declared.search(o.read_text("utf-8")) for o in others):
                dead.append(relative(path))
        assert dead == []


class TestTheRulesFindWhatTheyAreFor:
    RUST = """
        //! fn in_a_comment() { }
        fn short<'a>(x: &'a str) -> char { '{' }
        fn long(a: [u8; 2]) -> &'static str {
            if a == [1, 2] { "} select a from b" } else { r#"drop table "t" "# }
        }
        trait T { fn declared(&self); }
        /* delete from t */
    """

    def test_rust_functions_are_measured(self) -> None:
        lines = {f.name: f.lines for f in sources.rust_functions("x.rs", self.RUST)}
        assert lines == {"short": 1, "long": 3}

    def test_rust_texts_are_read_and_comments_are_not(self) -> None:
        names = [text for text in sources.rust_texts(self.RUST) if SQL.search(text)]
        assert [text[:6] for text in names] == ["} sele", "drop t"]

    @pytest.mark.parametrize(
        "text",
        [
            "select 1",
            "SELECT name\nFROM t",
            "select * from x",
            "insert into t values (1)",
            "create table t (a int)",
            "update t set a = 1",
            "delete from t",
            "drop table t",
        ],
    )
    def test_sql_is_recognised(self, text: str) -> None:
        assert SQL.search(text)

    @pytest.mark.parametrize(
        "text",
        [
            "select the fastest engine",
            "to create a table, load it",
            "update the record",
            "delete it",
            "selected",
        ],
    )
    def test_prose_is_not(self, text: str) -> None:
        assert not SQL.search(text)

    def test_python_functions_are_measured_with_their_last_line(self) -> None:
        here = Path(__file__)
        measured = {f.name: f.lines for f in sources.python_functions(here)}
        assert measured["test_names_of_files_say_something"] == 5


def test_tests_that_are_left_out_are_there() -> None:
    for name in long_tests():
        file, *inner = name.split("[")[0].split("::")
        functions = {
            node.name
            for node in ast.walk(sources.tree(HERE / file))
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
        }
        assert functions.issuperset(inner), f"{LONG.name} names {name}, which is not there"


def test_no_room_is_overfull() -> None:
    """A reader sees a folder's modules at a glance; a fuller one is two rooms."""
    full = {
        folder.relative_to(ROOT).as_posix(): count
        for top in (ROOT / "python" / "assay", ROOT / "crates")
        for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]
        if (count := sum(path.suffix in {".py", ".rs"} for path in folder.iterdir())) > ROOM_MAX
    }
    assert full == {}


def at_the_top(path: Path) -> set[str]:
    """Modules that a file imports outside of functions, types among them."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(sources.tree(path).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            children = ast.iter_child_nodes(node)
            # An import is a statement, so no expression is looked into.
            waiting += [child for child in children if isinstance(child, sources.HOLD_STATEMENTS)]
    return names


def ordered(imports: dict[str, set[str]]) -> list[str]:
    return list(TopologicalSorter(imports).static_order())


def test_there_is_an_order_in_which_all_modules_can_be_read() -> None:
    """No module needs, by a chain of imports, a module that needs it: not even for its types."""
    files = {sources.module_name(path): path for path in python_files()}
    # A package's own file is imported with each of its modules, and is no part of what they need.
    modules = {name: path for name, path in files.items() if path.name != "__init__.py"}
    ordered({name: at_the_top(path) & modules.keys() for name, path in modules.items()})


def test_a_cycle_is_found() -> None:
    with pytest.raises(CycleError):
        ordered({"a": {"b"}, "b": {"c"}, "c": {"a"}})
