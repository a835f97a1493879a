"""A file of an operation becomes statements with bound values; what cannot be bound is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.model.errors import UsageError
from assay.model.script import Draw, Script
from assay.workloads import scripts
from assay.workloads.answers import answers_folder
from assay.workloads.contract import Workload
from assay.workloads.discovery import find_workload, read_workload
from assay.workloads.rules import INTEGER_MAX

POSTGRESQL = ("postgresql",)


def a_workload(root: Path, manifest: str, **texts: str) -> Workload:
    (root / "operations").mkdir(exist_ok=True)
    (root / "workload.toml").write_text(manifest, encoding="utf-8")
    for name, text in texts.items():
        (root / "operations" / f"{name}.sql").write_text(text, encoding="utf-8")
    return read_workload(root)


def closed(root: Path, rule: str, text: str = "select ${n}", more: str = "") -> Workload:
    manifest = f'arrival = "closed"\n{more}\n[operations.q.parameters]\n{rule}\n'
    return a_workload(root, manifest, q=text)


def refusal(workload: Workload, scale: float = 1.0) -> str:
    with pytest.raises(UsageError) as error:
        workload.script(POSTGRESQL, scale, 1)
    return str(error.value)


class TestSplitting:
    @pytest.mark.parametrize(
        ("text", "statements"),
        [
            ("select 1", ["select 1"]),
            ("select 1;", ["select 1"]),
            ("begin; select 1;\n\ncommit ;\n", ["begin", "select 1", "commit"]),
            ("select ';', 'it''s;', \";\" ; select 2", ["select ';', 'it''s;', \";\"", "select 2"]),
            ("select 1 -- a; b\n; select 2", ["select 1 -- a; b", "select 2"]),
            ("/* a; /* b; */ c; */ select 1; -- end;", ["/* a; /* b; */ c; */ select 1"]),
            (
                "do $$ begin; end $$; select $t$ ; $$ ; $t$",
                ["do $$ begin; end $$", "select $t$ ; $$ ; $t$"],
            ),
            (r"select E'\';'; select 2", [r"select E'\';'", "select 2"]),
            ("execute p(';'); call f(';')", ["execute p(';')", "call f(';')"]),
            ("SELECT  ü ,\n 'ß;'", ["SELECT  ü ,\n 'ß;'"]),
        ],
    )
    def test_a_statement_ends_where_its_semicolon_is(
        self, text: str, statements: list[str]
    ) -> None:
        assert scripts.statements(text, POSTGRESQL) == statements

    def test_a_quote_is_what_the_dialect_says(self) -> None:
        text = "select `a;b` # c; d\n; select 2"
        assert scripts.statements(text, ("mariadb",)) == ["select `a;b` # c; d", "select 2"]
        assert scripts.statements(text, ("unheard-of", "mysql")) == [
            "select `a;b` # c; d",
            "select 2",
        ]

    @pytest.mark.parametrize("text", ["select 'a", 'select "a', "do $$ begin"])
    def test_what_is_not_closed_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="a quote or comment in the file is not closed"):
            scripts.statements(text, POSTGRESQL)


class TestBinding:
    A, B = Draw("a", integer=(1, 2)), Draw("b", choice=("x", "y"))

    def test_values_are_numbered_by_statement(self) -> None:
        text = "begin; select ${b}, ${a}, ${b}; update t set a = -${a}; commit"
        made = scripts.operation("q", text, [self.A, self.B], POSTGRESQL)
        assert [(statement.text, statement.values) for statement in made.statements] == [
            ("begin", ()),
            ("select $1, $2, $1", (1, 0)),
            ("update t set a = -$1", (0,)),
            ("commit", ()),
        ]
        assert made.draws == (self.A, self.B)

    def test_what_no_text_names_is_drawn_all_the_same(self) -> None:
        """Else a dialect that does without one value would draw others than its neighbours."""
        made = scripts.operation("q", "select ${b}", [self.A, self.B], POSTGRESQL)
        assert made.draws == (self.A, self.B)
        assert made.statements[0].values == (1,)

    def test_comments_stay_as_they_are(self) -> None:
        text = "-- of ${a}\nselect /* ${b} */ ${a} -- ${b}"
        made = scripts.operation("q", text, [self.A, self.B], POSTGRESQL)
        assert made.statements[0].text == "-- of ${a}\nselect /* ${b} */ $1 -- ${b}"
        assert made.statements[0].values == (0,)

    @pytest.mark.parametrize(
        "text",
        ["select '${a}'", "select 'x ${a} y'", 'select "${a}"', "do $$ ${a} $$", "select E'${a}'"],
    )
    def test_quotes_are_refused_with_the_mend(self, text: str) -> None:
        with pytest.raises(
            ValueError, match=r"\$\{a\} stands inside quotes.* leave the quotes out"
        ):
            scripts.operation("q", text, [self.A], POSTGRESQL)

    @pytest.mark.parametrize("text", ["select * from t_${a}", "select ${a}x", "select ${a}${a}"])
    def test_parts_of_words_are_refused_with_the_mend(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"\$\{a\} is part of a word.* one of \[constants\]"):
            scripts.operation("q", text, [self.A], POSTGRESQL)

    def test_what_no_draw_gives_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"text uses \$\{c\}, which no rule of .* defines"):
            scripts.operation("q", "select ${c}", [self.A], POSTGRESQL)

    def test_a_statement_has_as_many_values_as_the_protocol_counts(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert scripts.VALUES_MAX == 2**16 - 1
        monkeypatch.setattr(scripts, "VALUES_MAX", 1)
        both = [self.A, self.B]
        text = "select ${a}, ${a}; select ${b}"
        assert len(scripts.operation("q", text, both, POSTGRESQL).statements) == 2
        with pytest.raises(
            ValueError, match="a statement has 2 parameter values, and the maximum is 1"
        ):
            scripts.operation("q", "select ${a}, ${b}", both, POSTGRESQL)


class TestDraws:
    def draws(self, workload: Workload, scale: float = 1.0) -> tuple[Draw, ...]:
        return workload.script(POSTGRESQL, scale, 1).operations[0].draws

    @pytest.mark.parametrize(
        ("rule", "scale", "bounds"),
        [
            ("n = { integer = [-5, 5] }", 3.0, (-5, 5)),
            ("n = { integer = [1, 1000], times_scale = true }", 2.5, (1, 2500)),
            ("n = { integer = [1, 1000], times_scale = true }", 0.0001, (1, 1)),
            ('n = { integer = [1, "many"] }', 10.0, (1, 30)),
            ('n = { integer = ["some", "many"] }', 10.0, (7, 30)),
        ],
    )
    def test_bounds_know_scale_and_constants(
        self, tmp_path: Path, rule: str, scale: float, bounds: tuple[int, int]
    ) -> None:
        constants = "[constants]\nmany = { times_scale = 3 }\nsome = 7"
        workload = closed(tmp_path, rule, more=constants)
        assert self.draws(workload, scale) == (Draw("n", integer=bounds),)

    @pytest.mark.parametrize("choice", ['["a", 2, 0.5, true]', '"things"'])
    def test_a_choice_is_texts(self, tmp_path: Path, choice: str) -> None:
        lists = '[lists]\nthings = ["a", 2, 0.5, true]'
        workload = closed(tmp_path, f"n = {{ choice = {choice} }}", more=lists)
        assert self.draws(workload) == (Draw("n", choice=("a", "2", "0.5", "true")),)

    @pytest.mark.parametrize(
        ("rule", "message"),
        [
            ("n = { integer = [2, 1] }", "range from 2 to 1 is empty"),
            (f"n = {{ integer = [1, {INTEGER_MAX}], times_scale = true }}", "too wide"),
            (
                'n = { integer = [1, "lots"] }',
                "bound 'lots' is neither a whole number nor a constant",
            ),
            ('n = { choice = "things" }', "'things' is not a list of values; write the"),
            ("n = { choice = [] }", "parameter n has no values yet: write values"),
            ("n = { choice = [[1]] }", "the value must be a single value"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(self, tmp_path: Path, rule: str, message: str) -> None:
        assert message in refusal(closed(tmp_path, rule), scale=2.0)

    @pytest.mark.parametrize(
        "rule",
        [
            'n = { day = ["1995-03-01", "1995-03-31"] }',
            'n = { words = [["a"], ["b"]] }',
            'n = { decimal = ["0.1", "0.2"] }',
            "n = { per_scale = 0.1 }",
            "n = { default = 1 }",
            "n = { integer = [1, 9], distinct = 2 }",
        ],
    )
    def test_what_is_drawn_once_a_run_only_is_refused(self, tmp_path: Path, rule: str) -> None:
        message = refusal(closed(tmp_path, rule))
        assert "q.sql: parameter n cannot be drawn at each execution: its rule must be" in message

    def test_what_is_asked_for_and_not_there_is_refused(self, tmp_path: Path) -> None:
        message = refusal(closed(tmp_path, "n = { integer = [1, 2] }", "select ${n}, ${m}"))
        assert "q.sql: parameter m: the text asks for it, and no rule gives it" in message

    def test_an_answer_to_what_is_drawn_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "answers").mkdir()
        (tmp_path / "answers" / "q.csv").write_text("n\n1\n", encoding="utf-8")
        with pytest.raises(
            UsageError, match=r"q\.csv: the parameter values of q are drawn .*'rows'"
        ):
            closed(tmp_path, "n = { integer = [1, 2] }")
        assert answers_folder(closed(tmp_path, "", "select 1"), 1.0) == tmp_path / "answers"


class TestArrivals:
    RULE = "[operations.q.parameters]\nn = { default = 1, integer = [2, 9] }\n"

    def texts(self, workload: Workload, seed: int, parameters: str) -> list[str]:
        script = workload.script(
            POSTGRESQL, 1.0, seed, "drawn" if parameters == "drawn" else "default"
        )
        return [
            statement.text for operation in script.operations for statement in operation.statements
        ]

    def test_in_power_order_values_stand_in_the_texts(self, tmp_path: Path) -> None:
        workload = a_workload(tmp_path, self.RULE, q="begin; select ${n}; commit")
        assert self.texts(workload, 1, "default") == ["begin", "select 1", "commit"]
        drawn = {self.texts(workload, seed, "drawn")[1] for seed in range(100)}
        assert drawn == {f"select {n}" for n in range(2, 10)}
        assert workload.script(POSTGRESQL, 1.0, 1).operations[0].draws == ()

    def test_in_a_mix_they_are_bound_whatever_the_seed(self, tmp_path: Path) -> None:
        workload = a_workload(tmp_path, f'arrival = "closed"\n{self.RULE}', q="select ${n}")
        scripts_made = {repr(workload.script(POSTGRESQL, 1.0, seed, "drawn")) for seed in range(5)}
        assert len(scripts_made) == 1
        assert self.texts(workload, 1, "default") == ["select $1"]

    def test_what_comes_after_a_mix_has_its_defaults(self, tmp_path: Path) -> None:
        head = 'arrival = "closed"\nafter = ["q"]\n'
        workload = a_workload(tmp_path, head + self.RULE, q="select '${n}'", first="select 0")
        assert self.texts(workload, 1, "default") == ["select 0", "select '1'"]
        assert workload.drawn_operations == ()

    def test_the_record_tells_the_file_with_what_is_fixed_in_it(self, tmp_path: Path) -> None:
        more = "[constants]\nt = 'things'\nk = { times_scale = 2 }"
        text = "select '${t}', ${k} from ${t} where n = ${n}"
        statement = closed(tmp_path, "n = { integer = [1, 9] }", text, more).statement("q", (), 3.0)
        assert statement.text == "select 'things', 6 from things where n = ${n}"
        assert (statement.file, statement.parameters) == ("q.sql", {})

    @pytest.mark.parametrize("seed", [None, 1])
    def test_constants_are_no_parameters(self, tmp_path: Path, seed: int | None) -> None:
        manifest = f"{self.RULE}[constants]\nk = {{ times_scale = 2 }}"
        workload = a_workload(tmp_path, manifest, q="select ${k}, ${n}")
        statement = workload.statement("q", (), 0.1, seed)
        assert statement.text.startswith("select 1, ")
        assert list(statement.parameters) == ["n"]

    def test_weights_are_of_the_order(self, tmp_path: Path) -> None:
        manifest = 'arrival = "closed"\norder = ["b", "a"]\n[operations.a]\nweight = 45'
        workload = a_workload(tmp_path, manifest, a="select 1", b="select 2", c="select 3")
        assert workload.weights == {"b": 1, "a": 45}


class TestSetup:
    def workload(self, root: Path, manifest: str, *files: str) -> Workload:
        (root / "schema").mkdir()
        for file in files:
            (root / "schema" / file).write_text(f"{file} ${{k}}", encoding="utf-8")
        return a_workload(
            root, f"{manifest}\n[constants]\nk = {{ times_scale = 10 }}", q="select 1"
        )

    def test_files_come_in_order_with_their_constants(self, tmp_path: Path) -> None:
        manifest = 'setup = ["schema/b.sql", "schema/a.sql"]'
        workload = self.workload(tmp_path, manifest, "a.sql", "b.sql", "tables.sql")
        files = {"schema/b.sql": "b.sql 20", "schema/a.sql": "a.sql 20"}
        assert list(workload.setup((), 2.0).items()) == list(files.items())
        assert workload.makes_data

    def test_dialects_have_files_of_their_own(self, tmp_path: Path) -> None:
        workload = self.workload(tmp_path, "", "tables.sql", "tables.old.sql")
        assert workload.setup(("new", "old"), 1.0) == {"schema/tables.sql": "tables.old.sql 10"}

    def test_keys_come_after_unless_setup_made_them(self, tmp_path: Path) -> None:
        files = ("tables.sql", "keys.sql", "indexes.sql")
        workload = self.workload(tmp_path, "", *files)
        assert list(workload.setup((), 1.0)) == ["schema/tables.sql"]
        assert list(workload.keys((), 1.0)) == ["schema/keys.sql", "schema/indexes.sql"]
        named = a_workload(tmp_path, 'setup = ["schema/keys.sql"]\n[constants]\nk = 1')
        assert list(named.keys((), 1.0)) == ["schema/indexes.sql"]

    def test_an_empty_list_is_none(self, tmp_path: Path) -> None:
        workload = self.workload(tmp_path, "setup = []", "tables.sql")
        assert workload.setup((), 1.0) == {}
        assert not workload.makes_data

    def test_a_missing_file_is_told(self, tmp_path: Path) -> None:
        workload = self.workload(tmp_path, 'setup = ["schema/no.sql"]', "tables.sql")
        with pytest.raises(UsageError, match=r"no\.sql is missing: workload.toml names it"):
            workload.setup((), 1.0)

    def test_a_name_without_a_constant_is_told(self, tmp_path: Path) -> None:
        workload = a_workload(tmp_path, "", q="select 1")
        (tmp_path / "schema").mkdir()
        (tmp_path / "schema" / "tables.sql").write_text("${k}", encoding="utf-8")
        with pytest.raises(UsageError, match=r"tables\.sql: parameter k: the text asks for it"):
            workload.setup((), 1.0)


class TestShipped:
    """Oracle: what pgbench and sysbench send, as their manuals tell it."""

    def test_a_transfer_is_seven_statements(self) -> None:
        transfer, balances = find_workload("tpcb").script(POSTGRESQL, 3.0, 1).operations
        verbs = [statement.text.split("\n")[-1].split()[0] for statement in transfer.statements]
        assert verbs == ["begin", "update", "select", "update", "update", "values", "commit"]
        assert [len(statement.values) for statement in transfer.statements] == [0, 2, 1, 2, 2, 4, 0]
        bounds = {draw.name: draw.integer for draw in transfer.draws}
        assert bounds == {
            "account": (1, 300_000),
            "branch": (1, 3),
            "teller": (1, 30),
            "delta": (-5000, 5000),
        }
        assert (len(balances.statements), balances.draws) == (1, ())

    def test_its_balances_are_answered_at_every_scale(self) -> None:
        tpcb = find_workload("tpcb")
        folders = {answers_folder(tpcb, scale) for scale in (0.01, 1.0, 50.0)}
        assert folders == {tpcb.folder / "answers"}

    def test_a_point_select_is_one(self) -> None:
        (select,) = find_workload("point-select").script(POSTGRESQL, 0.5, 1).operations
        assert [statement.text.split("\n")[-1] for statement in select.statements] == [
            "select c from entries where id = $1"
        ]
        assert select.draws == (Draw("id", integer=(1, 50_000)),)

    def test_a_script_is_made_of_it(self) -> None:
        script = find_workload("tpcb").script(POSTGRESQL, 1.0, 1)
        assert Script.read(script.facts()) == script


@pytest.mark.parametrize(
    ("text", "brief_text"),
    [
        ("begin", "3 begin"),
        ("-- why: x\nUPDATE tellers set a = 1", "3 update tellers"),
        ("select a /* from b */ from sbtest1 where id = $1", "3 select sbtest1"),
        ("insert into history values ($1)", "3 insert history"),
    ],
)
def test_a_statement_without_a_name_has_its_number_verb_and_table(
    text: str, brief_text: str
) -> None:
    assert scripts.brief(3, text) == brief_text
