"""What Virtuoso's functions work at, as its author says it of two published profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay.engines.virtuoso
from assay.analysis.waits.rules import parse_waits
from assay.analysis.work.classify import Places, classify
from assay.analysis.work.rules import UNCLASSIFIED, Rules, combined, parse_rules, shared_rules

FOLDER = Path(assay.engines.virtuoso.__file__).parent
STATEMENT = ("main", "qr_exec", "qn_input")

# "In Hoc Signo Vinces", execution profile of TPC-H at 100 GB: functions, and what each is said to
# be for.
OF_TPCH = {
    "ce_vec_int_range_hash": "join filter",
    "ce_vec_int_sets_hash": "join filter",
    "hash_source_chash_input_1i_n": "hash probe",
    "cs_decode": "decode",
    "ce_intd_range_ltgt": "filter",
    "cha_cmp_1i": "aggregate",
    "cha_inline_1i_n_int": "hash probe",
    "ce_dict_generic_range_filter": "filter",
    "cha_inline_1i_int": "hash probe",
    "setp_chash_run": "aggregate",
    "clrg_partition_dc": "exchange",
    "gb_aggregate": "aggregate",
    "ce_dict_any_sets_decode": "decode",
    "cha_insert_1i": "hash build",
    "ce_search_rld": "index look-up",
    "cha_insert": "hash build",
    "ce_dict_int64_sets_decode": "decode",
    "ce_intd_any_sets_decode": "decode",
    "page_wait_access": "buffer manager",
    "itc_col_seg": "scan",
    "cha_insert_1i_n": "hash build",
    "cha_bloom_unroll_a": "join filter",
    "hash_source_chash_input": "hash probe",
    "strstr_sse42": "string match",
    "itc_fetch_col_vec": "buffer manager",
    "ce_vec_int64_sets_decode": "decode",
}
# "Benchmarks, Redux", the explore mix at 100 million triples: per cent, and whether it is said to
# be of compiling.
OF_BSBM = {
    "cmpf_iri64n_iri64n_anyn_gt_lt": (10.1723, False),
    "box_equal": (5.2093, True),
    "sqlo_parse_tree_has_node": (3.1646, True),
    "dk_alloc": (2.6453, False),
    "itc_next_set_neq": (2.6024, False),
    "itc_vec_split_search": (2.1126, False),
    "itc_dive_transit": (2.0768, False),
    "itc_bm_vec_row_check": (1.9044, False),
    "itc_page_rcf_search": (1.7706, False),
    "id_hash_get": (1.5340, True),
    "gen_qsort": (1.5326, False),
    "sqlo_key_part_best": (1.4748, True),
    "itc_param_cmp": (1.4648, False),
    "cmpf_iri64n_iri64n": (1.3409, False),
    "sqlo_in_list": (1.1343, True),
    "dc_iri_id_cmp": (0.9987, False),
    "dk_free_tree": (0.9821, False),
    "box_hash": (0.9648, True),
    "dks_esc_write": (0.9163, False),
    "sql_tree_hash_1": (0.9054, True),
}


def rules() -> Rules:
    text = (FOLDER / "operations.toml").read_text(encoding="utf-8")
    return combined(parse_rules(text, "operations.toml"), shared_rules())


def work_of(function: str | None) -> str | None:
    """The word for a function that the executor called; None stands for one without a name."""
    all_of = rules()
    names = [*STATEMENT, function]
    places = Places(names, ["virtuoso-t"] * len(names))
    verdicts = classify([-1, 0, 1, 2], [0, 1, 2, 3], places, all_of.rules)
    rule = verdicts.rules[-1]
    return UNCLASSIFIED if rule is None else all_of.rules[rule].work


@pytest.mark.parametrize(("function", "work"), OF_TPCH.items())
def test_functions_of_the_published_profile_do_what_is_said_of_them(
    function: str, work: str
) -> None:
    assert work_of(function) == work


def test_compiling_has_the_share_that_was_published() -> None:
    compiling = {name for name in OF_BSBM if work_of(name) == "optimiser/parse"}
    assert compiling == {name for name, (_, is_compiling) in OF_BSBM.items() if is_compiling}
    share = sum(OF_BSBM[name][0] for name in compiling)
    assert int(10 * share) / 10 == 14.3
    assert UNCLASSIFIED not in {work_of(name) for name in OF_BSBM}


def test_a_function_without_a_name_is_of_no_known_work() -> None:
    assert work_of(None) == UNCLASSIFIED


def test_rules_of_waits_can_be_read() -> None:
    assert parse_waits((FOLDER / "waits.toml").read_text(encoding="utf-8"), "waits.toml").rules
