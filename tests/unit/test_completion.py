"""Completion in a shell: the words that are offered, as the shells ask for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from assay.cli.main import app
from assay.cli.shared.completion import VARIABLE, complete
from assay.cli.shared.verbs import VERBS, command_of
from assay.engines.discovery import find_engines
from assay.model.errors import UsageError
from assay.study.declared.reading import study_files
from assay.verbs.preparing.completion import SHELLS, completion
from assay.workloads.discovery import find_workload, find_workloads
from tests.conftest import SyntheticRun
from tests.style.sources import ROOT

SHARE = ROOT / "wheels" / "contents" / "data" / "share"
SHIPPED = {
    "bash": SHARE / "bash-completion" / "completions" / "assay",
    "zsh": SHARE / "zsh" / "site-functions" / "_assay",
    "fish": SHARE / "fish" / "vendor_completions.d" / "assay.fish",
}


class Shell:
    """Asks as a shell does, without one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def asked(self, shell: str, line: str) -> str:
        """What is printed for a line whose last word is half written, or empty."""
        words = line.split(" ")
        variables = {
            VARIABLE: f"complete_{shell}",
            "COMP_WORDS": "\n".join(words),
            "COMP_CWORD": str(len(words) - 1),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)
        complete(typer.main.get_command(app))
        return self._capsys.readouterr().out

    def offered(self, line: str) -> list[str]:
        return self.asked("bash", line).split()


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def test_the_first_word_is_a_command(shell: Shell) -> None:
    assert shell.offered("assay ") == list(VERBS)
    assert shell.offered("assay r") == ["run", "report", "runs"]
    assert shell.offered("assay --v") == ["--version"]
    assert shell.offered("assay engines ") == ["show", "install"]


@pytest.mark.parametrize("verb", VERBS)
def test_all_options_of_a_command_are_offered_in_every_shell(shell: Shell, verb: str) -> None:
    options = {
        name
        for parameter in command_of(verb).params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    assert set(shell.offered(f"assay {verb} --")) >= options
    for other in ("zsh", "fish"):
        shown = shell.asked(other, f"assay {verb} --")
        assert all(option in shown for option in options)


@pytest.mark.parametrize(
    "line",
    [
        "assay run tpch --engine ",
        "assay study tpch-profile --engine ",
        "assay engines show ",
        "assay engines install ",
    ],
)
def test_engines_are_offered(shell: Shell, line: str) -> None:
    assert shell.offered(line) == list(find_engines())
    assert shell.offered(f"{line}duck") == ["duckdb"]


@pytest.mark.parametrize(
    "line",
    ["assay run ", "assay sweep --engine duckdb ", "assay workloads show ", "assay generate "],
)
def test_workloads_are_offered(shell: Shell, line: str) -> None:
    assert shell.offered(line) == list(find_workloads())
    assert shell.offered(f"{line}tpc") == ["tpcb", "tpcc", "tpch"]


def test_studies_are_offered(shell: Shell) -> None:
    assert shell.offered("assay study ") == list(study_files())


def test_runs_are_offered_the_latest_first(shell: Shell, synthetic: SyntheticRun) -> None:
    run = synthetic.write()
    place = synthetic.dir.parent
    later = synthetic.id.replace("2026", "2027")
    shutil.copytree(synthetic.dir, place / later)
    for verb in ("show", "explain", "report", "export", "size"):
        assert shell.offered(f"assay {verb} --runs {place} ") == ["latest", later, run.id]
    assert shell.offered(f"assay show --runs {place} 2027") == [later]
    found = shell.offered(f"assay diagnose --runs {place} ")
    assert found == [*find_workloads(), "latest", later, run.id]


def test_operations_are_those_of_the_workload_or_the_run(
    shell: Shell, synthetic: SyntheticRun
) -> None:
    run = synthetic.write()
    tpch = set(find_workload("tpch").facts.order)
    assert set(shell.offered("assay run tpch -o ")) == tpch
    assert shell.offered("assay workloads show tpch --operation q05") == ["q05"]
    of_run = f"assay explain --runs {synthetic.dir.parent} {run.id} --operation "
    assert shell.offered(of_run) == ["a", "b"]


def test_values_that_help_lists_are_offered(shell: Shell) -> None:
    assert shell.offered("assay run tpcc --durability ") == ["full", "relaxed", "none"]
    assert shell.offered("assay completion ") == list(SHELLS)


def test_what_is_unknown_is_left_to_the_shell(shell: Shell) -> None:
    assert shell.offered("assay run ./my-") == []
    assert shell.offered("assay explain latest --html ") == []
    assert shell.offered("assay doctor ") == []


def test_an_error_is_not_written_into_the_line(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "engine.toml").write_text("name =", encoding="utf-8")
    monkeypatch.setenv("ASSAY_ENGINES", str(tmp_path))
    assert shell.asked("bash", "assay run tpch --engine ") == ""
    assert capsys.readouterr().err == ""


def test_a_wheel_has_the_script_of_every_shell() -> None:
    assert {shell: path.read_text("utf-8") for shell, path in SHIPPED.items()} == {
        shell: completion(shell) + "\n" for shell in SHELLS
    }


def test_other_shells_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'fish'"):
        completion("fisch")


def test_bash_completes_a_line(tmp_path: Path) -> None:
    """The script as bash runs it, with the command as it is installed."""
    asks = f"""
source {SHIPPED["bash"]}
COMP_WORDS=(assay run tpch --engine postg) COMP_CWORD=4
_assay_completion {Path(sys.executable).parent / "assay"}
echo "${{COMPREPLY[*]}}"
"""
    told = subprocess.run(
        ["bash", "--norc", "-c", asks], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert (told.stdout, told.stderr) == ("postgresql\n", "")


def test_fish_completes_a_line(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    asks = f"source {SHIPPED['fish']}; complete --do-complete 'assay run tpch --engine postg'"
    variables = {
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    told = subprocess.run(
        ["fish", "--no-config", "--command", asks],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.startswith("postgresql\t")


def test_the_first_word_comes_at_once() -> None:
    """In zsh, whose script also shows help. No verb and no Pydantic is imported for it."""
    code = (
        "import os; os.environ.update(_ASSAY_COMPLETE='complete_zsh',"
        " _TYPER_COMPLETE_ARGS='assay r'); import atexit, sys;"
        " atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        " from assay.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '"runs"' in told.stdout
    modules = told.stderr.split()
    assert set(modules) & {"pydantic", "polars", "assay.cli.measuring.run"} == set()
