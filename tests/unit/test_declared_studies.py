"""A study's file: what follows from it, and how it is told where it is wrong."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.model.errors import UsageError
from assay.running.asked.request import RunRequest
from assay.study.declared.expanding import Expanded, Wanted, expanded
from assay.study.declared.lines import line_of
from assay.study.declared.new import EXAMPLE, new_study, study_schema
from assay.study.declared.reading import (
    find_declared,
    question_of,
    read_declared,
    study_files,
)
from assay.study.preparing import considered_all

HEAD = '# Which?\ntitle = "T"\nworkload = "tpch"\nscale = 0.01\n'
STUDY = (
    HEAD
    + """
repetitions = 2
min_time = "1s"
quick = { scale = 0.001, repetitions = 1, budget = "1m" }
budget = "1h"
set = { memory_limit = "1GB" }

[part.engines]
factor.engine = ["duckdb", "postgresql@16"]
factor.state = ["hot", "cold"]
exclude = [{ engine = "duckdb", state = "cold" }]
set = {}
quick = { factor.engine = ["duckdb"] }

[part.threads]
engine = "duckdb"
min_time = "2s"
repetitions = 3
factor."set.threads" = [1, 2]
factor.kind = [
  { name = "in memory", set = { temp_directory = "" }, profile = true },
  { name = "spilling", scale = 0.02 },
]
quick = false

[[figure]]
name = "by engine"
part = "engines"
kind = "states"
"""
).replace('"by engine"', '"engines"')


def written(folder: Path, text: str) -> Path:
    file = folder / "study.toml"
    file.write_text(text)
    return file


def study(folder: Path, text: str = STUDY, **wanted: Any) -> Expanded:
    return expanded(read_declared(written(folder, text)), Wanted(**wanted))


def requests(expansion: Expanded, part: str) -> dict[str, RunRequest]:
    (meant,) = [study_part for study_part in expansion.study.parts if study_part.name == part]
    return {variant.name: variant.request for variant in meant.variants}


class TestExpanded:
    def test_a_part_is_all_combinations_of_its_levels_but_those_excluded(
        self, tmp_path: Path
    ) -> None:
        expansion = study(tmp_path)
        engines = requests(expansion, "engines")
        assert list(engines) == ["duckdb, hot", "postgresql@16, hot", "postgresql@16, cold"]
        cold = engines["postgresql@16, cold"]
        assert (cold.engine, cold.engine_version, cold.state) == ("postgresql", "16", "cold")
        (part, _) = expansion.study.parts
        assert part.variants[2].levels == {"engine": "postgresql@16", "state": "cold"}

    def test_keys_of_levels_go_before_the_parts_and_these_before_the_heads(
        self, tmp_path: Path
    ) -> None:
        threads = requests(study(tmp_path), "threads")
        assert list(threads) == [
            "threads=1, in memory",
            "threads=1, spilling",
            "threads=2, in memory",
            "threads=2, spilling",
        ]
        first, second = threads["threads=1, in memory"], threads["threads=1, spilling"]
        assert first.settings == {"memory_limit": "1GB", "threads": "1", "temp_directory": ""}
        assert (first.profile_hz, second.profile_hz) == (499, None)
        assert (first.scale, second.scale) == (0.01, 0.02)
        assert first.min_time_s == 2.0

    def test_limits_are_a_table_as_settings_are(self, tmp_path: Path) -> None:
        text = """
limit = { memory = "1GB" }
[part.a]
factor."limit.cpu" = [0.5, 1]
factor.device = [{ name = "as it is" }, { name = "own", device = "own", read_ahead = 0 }]
allow_host_changes = true
"""
        run_requests = requests(study(tmp_path, HEAD + text), "a")
        assert list(run_requests) == [
            "limit cpu=0.5, as it is",
            "limit cpu=0.5, own",
            "limit cpu=1, as it is",
            "limit cpu=1, own",
        ]
        first, second = run_requests["limit cpu=0.5, as it is"], run_requests["limit cpu=0.5, own"]
        assert first.limits == second.limits == {"memory": 1 << 30, "cpu": 0.5}
        assert (first.own_device, first.read_ahead_bytes) == (False, None)
        assert (second.own_device, second.read_ahead_bytes) == (True, 0)

    def test_repetitions_and_budget(self, tmp_path: Path) -> None:
        expansion = study(tmp_path)
        assert [part.repetitions for part in expansion.study.parts] == [2, 3]
        assert expansion.budget_s == 3600.0
        assert expansion.study.title == "T"
        assert expansion.study.question == "Which?"
        assert [figure.parts for figure in expansion.study.figures] == [("engines",)]

    def test_quick_changes_head_and_parts(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, quick=True)
        assert expansion.without == {"threads": "--quick leaves it out"}
        assert expansion.budget_s == 60.0
        assert [part.repetitions for part in expansion.study.parts] == [1]
        (only,) = requests(expansion, "engines").values()
        assert (only.engine, only.scale) == ("duckdb", 0.001)

    def test_a_part_without_factors_is_one_run_named_after_its_engine(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, HEAD + "[part.one]\nprofile = true\n")
        assert list(requests(expansion, "one")) == ["duckdb"]

    def test_no_run_of_it_is_refused_without_having_been_looked_at(self, tmp_path: Path) -> None:
        asked_runs = considered_all(study(tmp_path).study)
        assert len(asked_runs) == 7
        assert all(asked_run.product is None for asked_run in asked_runs)

    @pytest.mark.parametrize("named", ["./q", "q"])
    def test_files_are_relative_to_that_of_the_study(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
    ) -> None:
        (tmp_path / "q").mkdir()
        (tmp_path / "q" / "one.sql").write_text("select 1")
        (tmp_path / "more.sql").write_text("analyze")
        text = f'# ?\ntitle = "T"\nworkload = "{named}"\n[part.a]\nprepare = ["more.sql"]\n'
        monkeypatch.chdir("/")
        (request,) = requests(study(tmp_path, text), "a").values()
        assert request.workload == str(tmp_path / "q")
        assert request.prepare == {"more.sql": "analyze"}


class TestInTheirPlace:
    def test_engines_stand_in_the_place_of_levels_and_keep_what_these_say(
        self, tmp_path: Path
    ) -> None:
        text = HEAD + (
            '[part.a]\nfactor.engine = ["duckdb", '
            '{ name = "tuned", engine = "postgresql", set = { jit = "off" } }]\n'
        )
        expansion = study(tmp_path, text, engines=("sqlite", "postgresql"))
        assert list(requests(expansion, "a")) == ["sqlite", "tuned"]
        assert requests(expansion, "a")["tuned"].settings == {"jit": "off"}

    def test_a_part_of_another_engine_is_left_out(self, tmp_path: Path) -> None:
        expansion = study(tmp_path, engines=("postgresql@17",))
        assert expansion.without == {"threads": "it is of duckdb, which --engine does not name"}
        assert requests(expansion, "engines")["postgresql@17, hot"].engine_version == "17"

    def test_where_engines_are_no_factor_they_become_one(self, tmp_path: Path) -> None:
        text = HEAD + 'engine = "duckdb"\n[part.a]\nfactor.state = ["hot"]\n'
        expansion = study(tmp_path, text, engines=("sqlite", "postgresql"))
        assert list(requests(expansion, "a")) == ["sqlite, hot", "postgresql, hot"]

    def test_the_workload_is_one_from_where_the_command_runs(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        (elsewhere / "w").mkdir(parents=True)
        (elsewhere / "w" / "q.sql").write_text("select 1")
        monkeypatch.chdir(elsewhere)
        expansion = study(tmp_path, HEAD + "[part.a]\n", workload="./w")
        assert requests(expansion, "a")["duckdb"].workload == str(elsewhere / "w")

    def test_nothing_may_be_left(self, tmp_path: Path) -> None:
        text = HEAD + '[part.a]\nengine = "duckdb"\n'
        with pytest.raises(UsageError, match="has no runs left to make"):
            study(tmp_path, text, engines=("sqlite",))


PART = HEAD + "[part.a]\n"


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("title = [", ("study.toml cannot be read", "at end of document")),
            ('title = "T"\n[part.a]\n', ("the first line must be a comment",)),
            ("# ?\n[part.a]\n", ("title is missing",)),
            ('# ?\ntitle = "T"\n', ("part: a study has at least one part", "[part.NAME]")),
            (HEAD + "[part]\n", ("part:", "at least one part")),
            (HEAD + "factor.engine = []\n[part.a]\n", ("factor stands in a part",)),
            (HEAD + "engin = 1\n[part.a]\n", (":5: engin:", "did you mean 'engine'")),
            (PART + "min-time = 1\n", (":6: part.a.min-time:", "did you mean 'min_time'")),
            (PART + "min_time = 1\n", (":6: part.a.min_time:", 'write it as text: "1"')),
            (PART + "streams = 0\n", (":6: part.a.streams:", "greater than or equal to 1")),
            (PART + "quick = true\n", (":6: part.a.quick: write false, or a table",)),
            (PART + "quick = { budget = '1m' }\n", (":6: part.a.quick.budget: unknown key",)),
            (HEAD + "budget = 'soon'\n[part.a]\n", ("budget 'soon': write it like",)),
            (HEAD + "budget = '0m'\n[part.a]\n", ("budget '0m'", "above 0")),
            (PART + "factor.engine = []\n", (":6: part.a.factor.engine:", "name at least one")),
            (
                PART + "factor.clients = [1, [2]]\n",
                (":6:", "clients[2]: a level is text, a number"),
            ),
            (
                PART + "factor.state = ['hot']\n[[figure]]\nname = 'f'\nkind = 'sweep'\n"
                "options = { factor = 'stat' }\n",
                ("figure[1].options.factor", "did you mean 'state'"),
            ),
            (
                PART + "factor.vector = [1, 2]\n",
                (":6: part.a.factor.vector:", "no key of a run", "are tables"),
            ),
            (PART + "factor.set = [1]\n", ("levels of set are tables",)),
            (PART + "factor.seed = [1, 1]\n", ("two levels are named '1'",)),
            (
                PART + "factor.x = [{ name = 'n', sed = 1 }]\n",
                (":6: part.a.factor.x[1].sed:", "did you mean 'seed'"),
            ),
            (PART + "factor.x = [{ seed = 1 }]\n", ("factor.x[1].name: name is missing",)),
            (
                PART + "seed = 3\nfactor.seed = [1, 2]\n",
                (":7: part.a.factor.seed: seed is set by the part, too",),
            ),
            (
                PART + "factor.'set.a' = [1]\nfactor.x = [{ name = 'n', set = { a = 1 } }]\n",
                ("set.a is set by factor set.a, too",),
            ),
            (
                PART + "factor.state = ['hot']\nexclude = [{ state = 'hott' }]\n",
                (":7: part.a.exclude[1]:", "'hott' is no level of factor state", "'hot'"),
            ),
            (PART + "exclude = [{ stat = 'hot' }]\n", ("neither a factor nor a key", "'state'")),
            (PART + "exclude = [{}]\n", ("it says nothing",)),
            (
                PART + "quick = { factor.engine = ['duckdb'] }\n",
                (":6: part.a.quick.factor.engine: the part has no factor 'engine'",),
            ),
            (
                PART + "[[figure]]\nname = 'f'\nkind = 'swep'\n",
                (":8: figure[1].kind: unknown kind of figure 'swep'; did you mean 'sweep'",),
            ),
            (
                PART + "[[figure]]\nname = 'f'\nkind = 'sweep'\noptions = { metrc = 'x' }\n",
                (":9: figure[1].options.metrc:", "did you mean 'metric'"),
            ),
            (
                PART + "[[figure]]\nname = 'f'\nkind = 'sweep'\npart = 'b'\n",
                (":9: figure[1].part: there is no part 'b'",),
            ),
            (
                PART + "[[figure]]\nname='f'\nkind='sweep'\n[[figure]]\nname='f'\nkind='states'\n",
                (":10: figure[2].name: another figure is named 'f'",),
            ),
            (
                PART + "[[figure]]\nname = 'f'\nkind = 'sweep'\npart = 'a'\nparts = ['a']\n",
                ("figure[1]:", "the keys part and parts mean the same"),
            ),
        ],
    )
    def test_with_file_line_key_and_mend(
        self, tmp_path: Path, text: str, message: tuple[str, ...]
    ) -> None:
        with pytest.raises(UsageError) as raised:
            read_declared(written(tmp_path, text))
        assert all(word in str(raised.value) for word in message), str(raised.value)
        assert str(raised.value).startswith(str(tmp_path / "study.toml"))

    def test_all_that_is_wrong_is_told_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError) as raised:
            read_declared(written(tmp_path, PART + "engin = 1\nstat = 2\nstreams = 'x'\n"))
        first, *others = str(raised.value).splitlines()
        assert first == "3 things are wrong:"
        assert len(others) == 3

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (PART + "factor.engine = ['dukdb']\n", ("part.a (dukdb)", "did you mean 'duckdb'")),
            (PART + "workload = 'tpcx'\n", ("part.a: unknown workload 'tpcx'",)),
            (PART + "streams = 2\n", ("part.a: streams applies to a test only: add test",)),
            (PART + "min_time = 'x'\n", ("part.a: min_time:", "write it like 30s")),
            (PART + "factor.scale = [0.1, 'x']\n", ("part.a (scale=x): scale:", "valid number")),
            (PART + "prepare = ['no.sql']\n", ("prepare no.sql: the file cannot be read",)),
            (
                HEAD + "streams = 2\n[part.a]\n[part.b]\n",
                ("streams does nothing in any part: streams applies to a test only",),
            ),
            (
                PART + "factor.state = ['hot']\nexclude = [{ state = 'hot' }]\n",
                ("part.a: exclude leaves no run",),
            ),
        ],
    )
    def test_what_no_run_could_be_is_refused_before_any(
        self, tmp_path: Path, text: str, message: tuple[str, ...]
    ) -> None:
        with pytest.raises(UsageError) as raised:
            study(tmp_path, text)
        assert all(word in str(raised.value) for word in message), str(raised.value)

    def test_so_is_what_only_a_look_at_engine_and_workload_tells(self, tmp_path: Path) -> None:
        expansion = study(
            tmp_path, PART + "factor.keep_data = [true]\nfactor.probes = ['all', 'no']\n"
        )
        with pytest.raises(UsageError) as raised:
            considered_all(expansion.study)
        assert "2 runs cannot be made" in str(raised.value)
        assert "part.a (keep_data=true, probes=all): --keep-data needs" in str(raised.value)

    def test_a_key_at_the_head_is_for_those_parts_where_it_means_something(
        self, tmp_path: Path
    ) -> None:
        text = HEAD + "streams = 2\n[part.a]\n[part.b]\ntest = 'throughput'\n"
        expansion = study(tmp_path, text)
        assert requests(expansion, "b")["duckdb"].streams == 2


class TestFinding:
    def test_by_file_and_by_folder(self, tmp_path: Path) -> None:
        file = written(tmp_path, STUDY)
        assert find_declared(str(file)).name == find_declared(str(tmp_path)).name == tmp_path.name
        other = tmp_path / "mine.toml"
        other.write_text(STUDY)
        assert find_declared(str(other)).name == "mine"

    def test_by_name_in_folders_of_the_environment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "mine").mkdir()
        written(tmp_path / "mine", STUDY)
        (tmp_path / "mine" / "published.toml").write_text("")
        monkeypatch.setenv("ASSAY_STUDIES", str(tmp_path))
        assert study_files()["mine"] == tmp_path / "mine" / "study.toml"
        assert find_declared("mine").published == tmp_path / "mine" / "published.toml"
        with pytest.raises(UsageError, match="did you mean 'mine'"):
            find_declared("mime")

    def test_what_is_not_there_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"no\.toml does not exist: `assay studies new"):
            find_declared(str(tmp_path / "no.toml"))

    def test_the_question_is_the_comment_at_the_head(self) -> None:
        text = "#:schema x\n\n# Is it\n#  so?\n#\n# Or not?\n\n# no more\ntitle = 1\n# nor this\n"
        assert question_of(text) == "Is it\nso?\n\nOr not?"
        assert question_of("title = 1\n# too late\n") == ""


@cache
def of_studies() -> jsonschema.Draft202012Validator:
    """The validator of a study's file; the schema itself is checked, too."""
    schema = study_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class TestExample:
    def test_it_is_written_with_its_schema_which_it_fits(self, tmp_path: Path) -> None:
        file, schema = new_study(tmp_path / "mine")
        assert file.read_text() == EXAMPLE.read_text()
        assert (tmp_path / "mine" / schema.name).read_text().startswith("{")
        expansion = expanded(read_declared(file), Wanted())
        assert len(expansion.study.order()) == 10
        assert considered_all(expansion.study)
        with pytest.raises(UsageError, match="exists already and is not overwritten: name another"):
            new_study(tmp_path / "mine")

    @pytest.mark.parametrize("file", [EXAMPLE, *study_files().values()], ids=str)
    def test_our_studies_fit_the_schema_and_can_be_asked_for(self, file: Path) -> None:
        of_studies().validate(tomllib.loads(file.read_text()))
        declared = read_declared(file)
        for quick in (False, True):
            considered_all(expanded(declared, Wanted(quick)).study)

    @pytest.mark.parametrize("wrong", ["engin = 1\n", "streams = 0\n", "factor.x = [[1]]\n"])
    def test_the_schema_refuses_what_is_refused(self, tmp_path: Path, wrong: str) -> None:
        with pytest.raises(jsonschema.ValidationError):
            of_studies().validate(tomllib.loads(PART + wrong))
        with pytest.raises(UsageError):
            read_declared(written(tmp_path, PART + wrong))


class TestLines:
    TEXT = '[a]\nx = 1\n"y.z".w = 2\n[[b]]\nx = 1\n[[b]]\n[b.c]\nx = 3\n'

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            (("a",), 1),
            (("a", "x"), 2),
            (("a", "x", "deeper", 3), 2),
            (("a", "y.z", "w"), 3),
            (("b", 0, "x"), 5),
            (("b", 1, "x"), 6),
            (("b", 1, "c", "x"), 8),
            (("nowhere",), None),
        ],
    )
    def test_a_key_is_found_or_what_is_around_it(
        self, path: tuple[str | int, ...], line: int | None
    ) -> None:
        assert line_of(self.TEXT, path) == line


class TestDurability:
    UNEQUAL = (
        HEAD
        + """
engine = "postgresql"
[part.both]
factor.setting = [
  { name = "as it is" },
  { name = "fast", set = { synchronous_commit = "off" } },
]
"""
    )

    def test_unequal_levels_are_refused_with_the_mend(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"durability differs \(full and relaxed\)"):
            study(tmp_path, self.UNEQUAL)

    def test_unless_they_are_what_is_compared_or_that_is_asked_for(self, tmp_path: Path) -> None:
        as_factor = HEAD + 'engine = "postgresql"\n[part.a]\nfactor.durability = ["full", "none"]\n'
        run_requests = requests(study(tmp_path, as_factor), "a")
        assert {request.durability for request in run_requests.values()} == {"full", "none"}
        allowed = self.UNEQUAL.replace("engine =", "unequal_durability = true\nengine =")
        assert len(requests(study(tmp_path, allowed), "both")) == 2
