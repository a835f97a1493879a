"""Rules of work: which are refused and why, what they match, and what all engines share."""

from __future__ import annotations

import pytest

from assay.analysis.work.classify import Places, classify
from assay.analysis.work.globs import Names, pattern
from assay.analysis.work.rules import (
    UNCLASSIFIED,
    WORDS,
    Rules,
    combined,
    parse_rules,
    shared_rules,
)
from assay.model.errors import UsageError

RULE = '[[rules]]\nwork = "scan"\nsymbols = ["Scan*"]\nsays = "Reads rows."\n'
KERNEL, LIBC, ENGINE = "[kernel]", "libc.so.6", "libengine.so"


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_rules(text, "my.toml")
    return str(caught.value)


class TestGlobs:
    @pytest.mark.parametrize(
        ("glob", "matches", "differs"),
        [
            ("f", ["f"], ["ff", ""]),
            ("f*", ["f", "f::g"], ["gf"]),
            ("*f", ["f", "gf"], ["fg"]),
            ("a*z", ["az", "a::z"], ["a", "z", "az_"]),
            ("*", ["", "f"], []),
            ("[kernel]", ["[kernel]"], ["k", "e"]),
            ("operator[]", ["operator[]"], ["operator"]),
            ("a?", ["a?"], ["ab"]),
        ],
    )
    def test_only_the_star_is_special(
        self, glob: str, matches: list[str], differs: list[str]
    ) -> None:
        assert Names([*matches, *differs]).matching(glob) == sorted(matches)
        assert all(pattern([glob]).fullmatch(name) for name in matches)
        assert not any(pattern([glob]).fullmatch(name) for name in differs)

    def test_no_glob_matches_nothing(self) -> None:
        assert pattern([]).fullmatch("") is None


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("rules = [", "my.toml cannot be read"),
            ('rule = "x"', "my.toml: unknown key 'rule'; did you mean 'rules'?"),
            (RULE + 'symbol = ["x"]', "rule 1: unknown key 'symbol'; did you mean 'symbols'?"),
            (RULE.replace("scan", "skan"), "did you mean 'scan'?"),
            (RULE.replace("scan", UNCLASSIFIED), "rule 1: unknown kind of work 'unclassified'"),
            (RULE.replace('says = "Reads rows."', ""), "rule 1: the rule lacks the key 'says'."),
            (RULE.replace("Reads rows.", ""), "rule 1: says:"),
            (RULE.replace('work = "scan"', ""), "the rule needs either work or artefact."),
            (RULE + 'artefact = "late"', "the rule needs either work or artefact."),
            (
                RULE.replace("symbols", "modules"),
                "a file name alone does not determine the kind of work",
            ),
            (RULE.replace("Scan*", "*"), "would match every function:"),
            (RULE.replace("Scan*", "**"), "would match every function:"),
            (RULE.replace('"Scan*"', '"f", "*"'), "would match every function:"),
            (RULE + 'under = ["*"]', "under would match every caller: name specific callers."),
            (RULE.replace("Scan*", ""), "rule 1: symbols.0:"),
            (RULE.replace('["Scan*"]', '"Scan*"'), "rule 1: symbols:"),
            ('outermost = ["Run"]\n' + RULE.replace("Scan*", "Run"), "the rule names Run,"),
            ('outermost = ["ScanAll"]\n' + RULE, "the rule names ScanAll,"),
            ('outermost = ["Run"]\n' + RULE + 'under = ["R*"]', "the rule names Run,"),
            (RULE + RULE.replace("scan", "x"), "my.toml, rule 2:"),
        ],
    )
    def test_it_says_where_and_why(self, text: str, reason: str) -> None:
        assert reason in refusal(text)

    def test_a_readers_rule_may_not_rest_on_the_engines_outermost_frames(self) -> None:
        mine = parse_rules(RULE.replace("Scan*", "Exec*"), "my.toml")
        theirs = parse_rules('outermost = ["ExecutorRun"]\n' + RULE, "operations.toml")
        with pytest.raises(UsageError, match=r"my\.toml, rule 1: the rule names ExecutorRun,"):
            combined(mine, theirs)

    def test_every_function_below_some_caller_may_be_named(self) -> None:
        text = RULE.replace("Scan*", "*") + 'under = ["SortRows"]'
        assert parse_rules('outermost = ["Run"]\n' + text, "x").rules[0].symbols == ("*",)


def judged(rules: Rules, *stack: tuple[str | None, str]) -> tuple[str | None, str | None]:
    """Work and artefact of a stack of functions and files, outermost first."""
    places = Places([name for name, _ in stack], [module for _, module in stack])
    size = len(stack)
    verdicts = classify(range(-1, size - 1), range(size), places, rules.rules)
    at = verdicts.rules[-1]
    if at is None:
        return UNCLASSIFIED, None
    return rules.rules[at].work, rules.rules[at].artefact


def rule(work: str, *symbols: str, **other: list[str]) -> str:
    keys = {"symbols": list(symbols)} | other
    lines = [f"{key} = {value!r}" for key, value in keys.items() if value]
    return f'[[rules]]\nwork = "{work}"\nsays = "x"\n' + "\n".join(lines) + "\n"


class TestClassification:
    RULES = parse_rules(
        rule("sort", "Compare", under=["Sort*"])
        + rule("expression", "Compare")
        + rule("memory", "grow", modules=[LIBC])
        + rule("as its caller", "copy")
        + rule("driver", "drive", modules=["_core*"])
        + rule("scan", under=["Scan"]),
        "x",
    )

    @pytest.mark.parametrize(
        ("stack", "work"),
        [
            ([("Compare", ENGINE)], "expression"),
            ([("Sort2", ENGINE), ("Compare", ENGINE)], "sort"),
            ([("Sort2", ENGINE), ("other", ENGINE), ("Compare", ENGINE)], "sort"),
            ([("Compare", ENGINE), ("Sort2", ENGINE)], UNCLASSIFIED),
            ([("grow", LIBC)], "memory"),
            ([("grow", ENGINE)], UNCLASSIFIED),
            ([("Compare", ENGINE), ("copy", LIBC)], "expression"),
            ([("Compare", ENGINE), ("copy", LIBC), ("copy", LIBC)], "expression"),
            ([("Compare", ENGINE), (None, LIBC), ("copy", LIBC)], "expression"),
            ([("Compare", ENGINE), ("odd", ENGINE), ("copy", LIBC)], UNCLASSIFIED),
            ([("copy", LIBC)], UNCLASSIFIED),
            ([("Compare", ENGINE), (None, ENGINE), (None, ENGINE)], "expression"),
            ([(None, ENGINE)], UNCLASSIFIED),
            ([("Scan", ENGINE), ("anything", ENGINE)], "scan"),
            ([("Scan", ENGINE)], UNCLASSIFIED),
            ([("drive", "_core.so"), (None, "_core.so")], "driver"),
            ([("drive", "_core.so"), (None, ENGINE)], UNCLASSIFIED),
            ([("drive", "_core.so"), (None, ENGINE), ("Compare", ENGINE)], "expression"),
        ],
    )
    def test_truth(self, stack: list[tuple[str | None, str]], work: str) -> None:
        assert judged(self.RULES, *stack) == (work, None)

    def test_the_frame_that_lacks_a_rule_is_told(self) -> None:
        places = Places(["odd", "copy", None], [ENGINE, LIBC, LIBC])
        verdicts = classify([-1, 0, 1, -1], [0, 1, 2, 1], places, self.RULES.rules)
        assert verdicts.rules == [None] * 4
        assert verdicts.decided == [0, 0, 0, None]

    def test_no_node_has_no_verdict(self) -> None:
        assert classify([], [], Places([], []), self.RULES.rules).rules == []


FAULT = ["asm_exc_page_fault", "exc_page_fault", "handle_mm_fault"]
READ = ["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_pread64", "vfs_read"]


class TestWhatAllEnginesShare:
    @pytest.mark.parametrize(
        ("functions", "work"),
        [
            ([*FAULT, "clear_page_erms"], "kernel memory"),
            ([*FAULT, "do_fault", "some_new_function"], "kernel memory"),
            ([*FAULT, "filemap_fault", "page_cache_ra_unbounded", "xa_load"], "kernel I/O"),
            ([*READ, "copy_page_to_iter"], "kernel I/O"),
            ([*READ, "some_new_function"], "kernel I/O"),
            ([*READ, *FAULT, "clear_page_erms"], "kernel memory"),
            ([*READ, "sock_read_iter", "some_new_function"], "network/protocol"),
            (["do_syscall_64", "__x64_sys_sendto", "tcp_sendmsg", "copy"], "network/protocol"),
            (["do_syscall_64", "__x64_sys_epoll_wait", "schedule", "x"], "network/protocol"),
            (["do_syscall_64", "__x64_sys_futex", "futex_wait", "schedule"], "locking"),
            (["do_syscall_64", "__x64_sys_munmap", "unmap_vmas", "x"], "kernel memory"),
            (["do_syscall_64", "__x64_sys_clone3", "copy_process"], "kernel memory"),
            (["do_syscall_64", "__x64_sys_fdatasync", "x"], "kernel I/O"),
            (["do_syscall_64", "__x64_sys_sched_yield", "x"], "scheduling"),
            (["asm_sysvec_apic_timer_interrupt", "x", "y"], "scheduling"),
            (["do_syscall_64", "__x64_sys_sendto", "handle_softirqs", "net_rx_action", "x"],
             "network/protocol"),
            (["do_syscall_64", "__x64_sys_something_new", "x"], UNCLASSIFIED),
            (["entry_SYSCALL_64_after_hwframe"], "scan"),
            (["do_syscall_64", "__x64_sys_clock_gettime"], "scan"),
        ],
    )  # fmt: skip
    def test_the_kernel(self, functions: list[str], work: str) -> None:
        rules = combined(parse_rules(RULE, "x"), shared_rules())
        stack = [("Scan", ENGINE), *[(name, KERNEL) for name in functions]]
        assert judged(rules, *stack) == (work, None)

    @pytest.mark.parametrize("name", ["finish_task_switch", "pv_native_safe_halt"])
    def test_artefacts(self, name: str) -> None:
        work, why = judged(shared_rules(), ("Scan", ENGINE), ("schedule", KERNEL), (name, KERNEL))
        assert work is None
        assert why

    @pytest.mark.parametrize(
        ("name", "module", "work"),
        [
            ("__memmove_avx_unaligned_erms", LIBC, "scan"),
            ("memcmp", LIBC, "scan"),
            ("std::vector<int>::push_back", ENGINE, "scan"),
            ("__vdso_clock_gettime", "[vdso]", "scan"),
            ("_int_malloc", LIBC, "memory"),
            ("operator new", "libstdc++.so.6", "memory"),
            ("pthread_mutex_lock", LIBC, "locking"),
            ("__lll_lock_wait", LIBC, "locking"),
            ("__strstr_sse2_unaligned", LIBC, "string match"),
            ("__ieee754_pow_fma", "libm.so.6", "expression"),
            ("__libc_pread64", LIBC, "kernel I/O"),
            ("assay_drive::run::work", "_core.abi3.so", "driver"),
            ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "_core.abi3.so", "driver"),
            ("_PyEval_EvalFrameDefault", "python3.11", "driver"),
        ],
    )
    def test_libraries(self, name: str, module: str, work: str) -> None:
        rules = combined(parse_rules(RULE, "x"), shared_rules())
        assert judged(rules, ("Scan", ENGINE), (name, module)) == (work, None)

    def test_every_word_is_one_that_reports_know(self) -> None:
        kinds_of_work = {rule.work for rule in shared_rules().rules if rule.work is not None}
        assert kinds_of_work - {"as its caller"} <= set(WORDS)
