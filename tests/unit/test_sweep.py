"""`assay sweep`: what of a command line becomes a study, and what is refused before any run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.cluster.nodes import WORKERS
from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.study.asked_study import factor_of, varied
from assay.study.declared.expanding import Wanted, expanded
from assay.study.sweep import Sweep, numbers_of_clients, scales_from, sweep_study, turned
from assay.study.variants import Study


def study(**options: Any) -> Study:
    return expanded(sweep_study(Sweep("tpcb", **options)), Wanted()).study


def by_variant(declared_study: Study, key: str) -> dict[str, Any]:
    return {
        variant.name: variant.request.facts()[key] for variant in declared_study.parts[0].variants
    }


class TestStudy:
    def test_clients_are_a_factor_with_a_figure(self) -> None:
        declared_study = study(engines=("postgresql",), clients=(1, 2, 8), repetitions=3)
        assert by_variant(declared_study, "clients") == {
            "clients=1": 1,
            "clients=2": 2,
            "clients=8": 8,
        }
        assert {variant.levels["clients"] for variant in declared_study.parts[0].variants} == {
            "1",
            "2",
            "8",
        }
        assert [(figure.name, figure.kind) for figure in declared_study.figures] == [
            ("clients", "clients")
        ]
        # In turns: each round has each number once, and the second goes backwards.
        order = [run.stands_for[0].variant for run in declared_study.order()]
        assert order[3:6] == order[:3][::-1]

    def test_engines_are_compared_at_every_level(self) -> None:
        declared_study = study(engines=("postgresql", "mysql"), clients=(1, 4))
        assert set(by_variant(declared_study, "engine").values()) == {"postgresql", "mysql"}
        assert len(declared_study.parts[0].variants) == 4
        assert [figure.kind for figure in declared_study.figures] == ["clients"]

    def test_options_and_settings_are_varied_and_all_combinations_run(self) -> None:
        factors = varied(["buffer=64MB,256MB", "work_mem=4MB,64MB"])
        declared_study = study(engines=("postgresql",), clients=(8,), factors=factors)
        assert set(by_variant(declared_study, "clients").values()) == {8}
        assert len(declared_study.parts[0].variants) == 4
        settings = {
            variant_settings["work_mem"]
            for variant_settings in by_variant(declared_study, "settings").values()
        }
        assert settings == {"4MB", "64MB"}
        assert [(figure.kind, figure.options) for figure in declared_study.figures] == [
            ("trade", {"factor": "buffer"}),
            ("trade", {"factor": "set.work_mem"}),
            ("trade", {"factor": "buffer", "grid": "set.work_mem"}),
        ]

    def test_scales_are_a_factor_with_a_figure_of_their_own(self) -> None:
        declared_study = study(engines=("postgresql",), scales=(1.0, 10.0), extrapolate=(100.0,))
        assert set(by_variant(declared_study, "scale").values()) == {1.0, 10.0}
        (figure,) = declared_study.figures
        assert (figure.name, figure.kind) == ("scales", "scales")
        assert figure.options == {"factor": "scale", "extrapolate": [100.0]}
        several = study(engines=("postgresql",), scales=(0.5, 10.0))
        assert {variant.levels["scale"] for variant in several.parts[0].variants} == {"0.5", "10"}
        alone = study(engines=("postgresql",), scales=(10.0,), clients=(1, 2))
        assert set(by_variant(alone, "scale").values()) == {10.0}
        assert [made_figure.kind for made_figure in alone.figures] == ["clients"]
        assert scales_from("--scale", "10, 0.1,1") == (0.1, 1.0, 10.0)
        assert scales_from("--scale", None) == ()

    def test_options_of_a_run_are_of_all_runs(self) -> None:
        keys = {"time": "3s", "durability": "none", "seed": 7}
        declared_study = study(engines=("postgresql",), clients=(1, 2), keys=keys)
        assert set(by_variant(declared_study, "time_s").values()) == {3.0}
        assert set(by_variant(declared_study, "durability").values()) == {"none"}
        assert set(by_variant(declared_study, "seed").values()) == {7}
        assert declared_study.seed == 7

    def test_a_key_is_an_option_a_thing_of_a_table_or_a_setting(self) -> None:
        assert factor_of("think-time") == "think_time"
        assert factor_of("limit.cpu") == "limit.cpu"
        assert factor_of("work_mem") == "set.work_mem"
        assert numbers_of_clients("1, 2,16") == (1, 2, 16)
        assert numbers_of_clients(None) == ()

    def test_a_knob_has_a_name_of_its_own_and_what_it_takes_beside_it(self) -> None:
        factors, settings = turned(["vector=10000,100000"], ["virtuoso"], {})
        assert factors == {"set.VectorSize": ["10000", "100000"]}
        # Else the server makes vectors longer itself.
        assert settings == {"AdjustVectorSize": "0"}
        # What a person asks for holds.
        assert turned(["VectorSize=1,2"], ["virtuoso"], {"AdjustVectorSize": "1"})[1] == {
            "AdjustVectorSize": "1"
        }
        assert turned(["vector=1,2", "longer_vectors=0,1"], ["virtuoso@7.2.5"], {})[1] == {}
        assert turned(["threads=1,2"], ["duckdb"], {})[0] == {"set.threads": ["1", "2"]}
        declared_study = study(engines=("virtuoso",), factors=factors, keys={"set": settings})
        for asked in by_variant(declared_study, "settings").values():
            assert asked["AdjustVectorSize"] == "0"

    def test_numbers_of_workers_are_told_by_nodes_too(self) -> None:
        factors = turned(["workers=1,2"], ["trino"], {})[0]
        assert factors == {WORKERS: ["1", "2"]}
        declared_study = study(engines=("trino",), factors=factors)
        assert [figure.kind for figure in declared_study.figures] == ["trade", "nodes"]

    def test_a_knob_that_is_two_settings_is_refused(self) -> None:
        with pytest.raises(
            UsageError,
            match=r"a different setting for each engine \(ThreadsPerQuery of virtuoso, threads of",
        ):
            turned(["threads=1,2"], ["virtuoso", "duckdb"], {})

    def test_levels_of_durability_can_be_what_varies(self) -> None:
        declared_study = study(engines=("postgresql",), factors=varied(["durability=full,none"]))
        assert set(by_variant(declared_study, "durability").values()) == {"full", "none"}


REFUSED = {
    "": "nothing varies: add --clients 1,2,4,8,16, --scale 1,10 or --vary",
    "--clients 4": "--clients 4: one level is no sweep",
    "--clients 0,1": "'0' is not a number of clients: write whole numbers from 1 to 100,000,",
    "--clients 1,two": "'two' is not a number of clients:",
    "--clients 1,-2": "'-2' is not a number of clients:",
    "--clients 1,,2": "a value is empty: write",
    "--clients 1,2,1": "--clients 1,2,1: 1 is given twice",
    "--vary clients=1,2": "assay: --vary clients: use --clients with several numbers instead",
    "--scale 10": "--scale 10: one level is no sweep",
    "--scale 10 --clients 4": "--scale 10 --clients 4: one level is no sweep",
    "--scale 1,1.0": "--scale 1,1.0: 1 is given twice",
    "--scale 1,10,1": "--scale 1,10,1: 1 is given twice",
    "--scale 0,1": "'0' is not a scale: write numbers above 0,",
    "--scale -1,1": "'-1' is not a scale:",
    "--scale 1,ten": "'ten' is not a scale:",
    "--scale 1,nan": "'nan' is not a scale:",
    "--scale 1,inf": "'inf' is not a scale:",
    "--scale 1,": "a value is empty: write",
    "--scale 1,10 --extrapolate 5": "--extrapolate 5 is no larger than the measured scales, up",
    "--scale 1,10 --extrapolate 10": "--extrapolate 10 is among the measured scales, up",
    "--scale 1,10 --extrapolate 0.5": "measure that scale with --scale instead",
    "--scale 1,10 --extrapolate 0": "--extrapolate 0: '0' is not a scale:",
    "--scale 10 --clients 1,2 --extrapolate 100": "a growth law needs measurements at two scales",
    "--clients 1,2 --extrapolate 100": "--extrapolate 100: a growth law needs measurements at",
    "--vary scale=1,10": "--vary scale: use --scale with several numbers instead",
    "--vary threads=1": "--vary threads=1: a sweep needs two values or more",
    "--vary threads": "write it as --vary KEY=VALUE,VALUE",
    "--vary a=1,2 --vary a=3,4": "--vary a is given twice",
    "--clients 1,2 --repeat 0": "repeat",
    "--clients 1,2 --budget soon": "--budget 'soon': write it like 90s, 30m or 2h",
    "--clients 1,2 --min-time 3s": "--min-time applies to repeated passes, and this run of tpcb",
    "--clients 1,2 --districts 3": "districts",
    "--clients 1,2 --engine postgrsql": "did you mean 'postgresql'?",
    "--clients 1,2 --engine postgresql --set a": "--set a: write it as --set name=value",
    "--vary limit.cqu=1,2 --clients 2": "did you mean 'cpu'?",
    "--vary retries=1,x": "valid integer",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_wrong_is_refused_with_its_mend(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_command(["sweep", "tpcb", *line.split(), "--runs", str(tmp_path)])
    text = " ".join(capsys.readouterr().err.split())
    assert code == 1, text
    assert REFUSED[line] in text
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_no_engine_has_is_refused_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["sweep", "tpch", "--engine", "duckdb", "--vary", "thraeds=1,2"]
    assert run_command([*line, "--runs", str(tmp_path)]) == 1
    assert "DuckDB has no setting 'thraeds'; did you mean 'threads'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,4", "assay sweep WORKLOAD --clients 1,2,4 makes a run of each"),
        ("0", "write a whole number from 1 to 100,000"),
        ("x", "write a whole number from 1 to 100,000"),
    ],
)
def test_a_run_has_one_number_of_clients(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["run", "tpcb", "--clients", text]) == 1
    assert message in " ".join(capsys.readouterr().err.split())
