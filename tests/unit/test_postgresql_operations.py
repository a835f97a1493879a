"""What PostgreSQL's functions work at: stacks as they are seen, and what each is for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import assay.engines.postgresql
from assay.analysis.work.classify import Places, classify
from assay.analysis.work.names import without_clone
from assay.analysis.work.rules import UNCLASSIFIED, Rules, combined, parse_rules, shared_rules

FILE = Path(assay.engines.postgresql.__file__).with_name("operations.toml")
KERNEL = "[kernel]"
LIBC = "libc.so.6"
# Outermost first; a function of another file than the server's program is written `file!function`.
WORKER = (
    "PostmasterMain > ServerLoop > maybe_start_bgworkers > postmaster_child_launch"
    " > BackgroundWorkerMain > ParallelWorkerMain > ParallelQueryMain"
    " > standard_ExecutorRun"
)
LEADER = (
    "PostmasterMain > ServerLoop > BackendMain > PostgresMain > PortalRun > standard_ExecutorRun"
)
INDEX = "ExecNestLoop > ExecScan > IndexNext > index_getnext_slot"
TRUTH = {
    # Q6: a scan, its condition, the columns for it, and where the pages come from
    f"{WORKER} > ExecAgg > fetch_input_tuple > ExecSeqScanWithQual > SeqNext > heap_getnextslot"
    " > heapgettup_pagemode > heap_prepare_pagescan > HeapTupleSatisfiesVisibility": "scan",
    f"{WORKER} > ExecAgg > fetch_input_tuple > ExecSeqScanWithQual > SeqNext > heap_getnextslot"
    " > ExecStoreBufferHeapTuple > tts_buffer_heap_store_tuple": "scan",
    f"{WORKER} > ExecAgg > fetch_input_tuple > ExecSeqScanWithQual > ExecInterpExpr > date_ge": (
        "filter"
    ),
    f"{WORKER} > ExecAgg > fetch_input_tuple > ExecSeqScanWithQual > ExecInterpExpr"
    " > slot_getsomeattrs_int > tts_buffer_heap_getsomeattrs": "decode",
    f"{WORKER} > ExecSeqScanWithQual > SeqNext > heap_getnextslot > heapgettup_pagemode"
    " > heap_fetch_next_buffer > read_stream_next_buffer > StartReadBuffer > BufTableLookup"
    " > hash_search_with_hash_value": "buffer manager",
    f"{WORKER} > ExecSeqScanWithQual > SeqNext > heap_getnextslot > heapgettup_pagemode"
    f" > heap_prepare_pagescan > heap_page_prune_opt > {KERNEL}!asm_exc_page_fault"
    f" > {KERNEL}!exc_page_fault > {KERNEL}!handle_mm_fault": "kernel memory",
    # Q1: groups by hash, products, sums
    f"{WORKER} > ExecSort > ExecAgg > lookup_hash_entries > LookupTupleHashEntry"
    " > tuplehash_insert_hash_internal > TupleHashTableMatch.isra.9 > ExecInterpExpr > bpchareq"
    f" > {LIBC}!__memcmp_evex_movbe": "aggregate",
    f"{WORKER} > ExecSort > ExecAgg > advance_aggregates > ExecInterpExpr > numeric_mul_opt_error"
    " > make_result_opt_error": "expression",
    f"{WORKER} > ExecSort > ExecAgg > advance_aggregates > ExecInterpExpr > numeric_avg_accum"
    " > do_numeric_accum > init_var_from_num": "aggregate",
    f"{WORKER} > ExecSort > ExecAgg > advance_aggregates > ExecInterpExpr": "aggregate",
    f"{WORKER} > ExecSort > ExecAgg > advance_aggregates > ExecInterpExpr > numeric_sub_opt_error"
    " > free_var > AllocSetFree": "memory",
    # Q9, Q10, Q13: hash joins, pattern, HAVING of Q18
    f"{WORKER} > ExecHashJoin > ExecParallelHashJoin > MultiExecHash"
    " > ExecParallelHashTableInsert > ExecParallelHashPushTuple": "hash build",
    f"{WORKER} > ExecAgg > fetch_input_tuple > ExecParallelHashJoin"
    " > ExecParallelScanHashBucket > dsa_get_address": "hash probe",
    f"{WORKER} > MultiExecHash > ExecHashJoin > ExecEvalExprSwitchContext"
    " > ExecJustHashOuterVarStrict > hashint8": "hash probe",
    f"{WORKER} > ExecParallelHashJoin > ExecSeqScanWithQual > ExecInterpExpr > textnlike"
    " > UTF8_MatchText": "string match",
    f"{LEADER} > MultiExecHash > ExecAgg > project_aggregates > ExecQual > ExecInterpExpr": (
        "filter"
    ),
    f"{LEADER} > MultiExecHash > ExecAgg > ExecQual > ExecInterpExpr > int8eq": "aggregate",
    f"{LEADER} > ExecSort > ExecParallelHashJoin > ExecProject > ExecInterpExpr > extract_date": (
        "expression"
    ),
    # Q3, Q18: look-ups by index
    f"{LEADER} > {INDEX} > index_getnext_tid > btgettuple > _bt_first > _bt_search > _bt_binsrch"
    " > _bt_compare > FunctionCall2Coll > btint8cmp": "index look-up",
    f"{LEADER} > {INDEX} > index_fetch_heap > heapam_index_fetch_tuple > heap_hot_search_buffer"
    " > HeapTupleSatisfiesVisibility": "index look-up",
    f"{LEADER} > {INDEX} > index_fetch_heap > heapam_index_fetch_tuple > LWLockAcquire"
    " > LWLockAttemptLock": "locking",
    f"{LEADER} > ExecHashJoin > ExecNestLoop": "join",
    # order, exchange, result
    f"{LEADER} > ExecSort > tuplesort_performsort > qsort_tuple_unsigned"
    " > comparetup_heap_tiebreak > ApplySortAbbrevFullComparator > bpcharfastcmp_c": "sort",
    f"{LEADER} > ExecSort > tuplesort_puttupleslot > heap_form_minimal_tuple": "sort",
    f"{WORKER} > tqueueReceiveSlot > shm_mq_send > shm_mq_send_bytes": "exchange",
    f"{LEADER} > printtup > OutputFunctionCall > numeric_out > get_str_from_var": "result",
    # what a session does around its queries
    "PostgresMain > exec_simple_query > pg_plan_queries > planner > standard_planner"
    " > query_planner > add_path_precheck": "optimiser/parse",
    "PostgresMain > PortalStart > standard_ExecutorStart > InitPlan > ExecInitNode"
    " > ExecInitExpr > ExprEvalPushStep": "optimiser/parse",
    "PostgresMain > parse_analyze_fixedparams > transformExprRecurse > SearchCatCacheInternal": (
        "catalogue"
    ),
    "PostgresMain > finish_xact_command > CommitTransaction > XLogFlush > XLogWrite": "log",
    "PostgresMain > finish_xact_command > CommitTransaction > ProcArrayEndTransaction": (
        "transaction"
    ),
    f"{LEADER} > ExecModifyTable > ExecUpdateAct > heapam_tuple_update > heap_update": "update",
    f"PostgresMain > pq_getbyte > pq_recvbuf > secure_read > {LIBC}!recv"
    f" > {KERNEL}!__x64_sys_recvfrom > {KERNEL}!unix_stream_read_generic": "network/protocol",
    # what is not the workload's
    "ServerLoop > AutoVacWorkerMain > do_autovacuum > vacuum_rel > heap_vacuum_rel"
    " > heapgettup_pagemode": "maintenance",
    f"{LEADER} > ExecScan > FunctionNext > ExecMakeTableFunctionResult"
    " > pg_buffercache.so!pg_buffercache_summary": "driver",
    # an outermost frame says nothing by itself
    LEADER: UNCLASSIFIED,
}


@cache
def rules() -> Rules:
    return combined(parse_rules(FILE.read_text(encoding="utf-8"), FILE.name), shared_rules())


def work_of(stack: str) -> str:
    """What the innermost function of a stack works at."""
    frames = [frame.rpartition("!") for frame in stack.split(" > ")]
    names = [without_clone(name) for _, _, name in frames]
    modules = [module or "postgres" for module, _, _ in frames]
    at = list(range(len(frames)))
    verdicts = classify([place - 1 for place in at], at, Places(names, modules), rules().rules)
    rule = verdicts.rules[-1]
    return UNCLASSIFIED if rule is None else rules().rules[rule].work or "artefact"


@pytest.mark.parametrize(("stack", "work"), TRUTH.items(), ids=lambda text: text[-60:])
def test_a_stack_is_known_by_what_it_is_for(stack: str, work: str) -> None:
    assert work_of(stack) == work


def test_a_subquery_keeps_its_operators_apart() -> None:
    """The filter of an outer scan must not swallow what its subquery does."""
    outer = f"{LEADER} > ExecSeqScanWithQual > ExecInterpExpr > ExecEvalSubPlan > ExecSubPlan"
    assert work_of(f"{outer} > ExecAgg > advance_aggregates > ExecInterpExpr") == "aggregate"
    assert (
        work_of(f"{outer} > ExecAgg > fetch_input_tuple > {INDEX} > _bt_first") == "index look-up"
    )
    assert work_of(f"{outer} > ExecHashJoin > ExecScanHashBucket > ExecInterpExpr") == "hash probe"


def test_what_a_worker_runs_is_not_its_start() -> None:
    """Workers are forked below the server's loop, and keep its frames."""
    start = "ServerLoop > maybe_start_bgworkers > postmaster_child_launch"
    assert work_of(f"{start} > InitPostmasterChild") == "scheduling"
    assert work_of(f"{start} > ParallelWorkerMain > ParallelQueryMain > ExecNestLoop") == "join"


def test_a_function_without_a_name_is_its_callers() -> None:
    """So does a stripped build keep what its exported functions tell."""
    names = ["PostgresMain", "ReadBufferExtended", None, None]
    verdicts = classify([-1, 0, 1, 2], [0, 1, 2, 3], Places(names, ["postgres"] * 4), rules().rules)
    rule = verdicts.rules[-1]
    assert rule is not None
    assert rules().rules[rule].work == "buffer manager"


def test_functions_of_the_kernel_are_not_taken_for_the_servers() -> None:
    of_server = parse_rules(FILE.read_text(encoding="utf-8"), FILE.name).rules
    loose = [rule.origin for rule in of_server if not rule.modules and rule.work != "driver"]
    assert loose == []
