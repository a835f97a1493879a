"""What DuckDB's rules say of stacks that its queries were seen in."""

from __future__ import annotations

import pytest

from assay.analysis.work.classify import Places, classify
from assay.analysis.work.rules import (
    UNCLASSIFIED,
    Rules,
    combined,
    parse_rules,
    rules_of,
    shared_rules,
)
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError

DUCKDB = "_duckdb.cpython-311-x86_64-linux-gnu.so"
LIBRARIES = {"__mem": "libc.so.6", "malloc": "libc.so.6", "operator new": "libstdc++.so.6"}
# A function that the stripped wheel does not name.
UNNAMED = "?"
PIPELINE = ("ExecutorTask::Execute", "PipelineTask::ExecuteTask", "PipelineExecutor::Execute")
SCAN = (
    *PIPELINE,
    "PipelineExecutor::FetchFromSource",
    "PhysicalTableScan::GetDataInternal",
    "RowGroup::ProcessPreparedScan",
)
FILTERED = (*SCAN, "StandardColumnData::Filter")
JOIN = (*PIPELINE, "CachingPhysicalOperator::Execute", "PhysicalHashJoin::ExecuteInternal")
BUILD = (*PIPELINE, "PipelineExecutor::ExecutePushInternal", "PhysicalHashJoin::Sink")
GROUP = (
    *PIPELINE,
    "PipelineExecutor::ExecutePushInternal",
    "PhysicalHashAggregate::Sink",
    "RadixPartitionedHashTable::Sink",
    "GroupedAggregateHashTable::AddChunk",
)
PROJECT = (*PIPELINE, "PhysicalProjection::Execute", "ExpressionExecutor::Execute")
EXECUTORS = ("ExpressionExecutor::Select", "ExpressionExecutor::Execute")
APPEND = ("PartitionedTupleData::AppendUnified", "TupleDataCollection::Scatter")
PLAN = ("ClientContext::CreatePreparedStatement", "Planner::CreatePlan")

TRUTH = [
    ("decode", (*SCAN, "ColumnData::ScanVector", "BitpackingScanPartial<long, long, long>")),
    ("decode", (*FILTERED, "ColumnData::ScanVector", "BitpackingScanPartial<int, int, int>",
                "duckdb_fastpforlib::internal::__fastunpack12", UNNAMED)),
    ("decode", (*FILTERED, "ColumnData::FilterVector",
                "dict_fsst::CompressedStringScanState::FetchStringFromDict", UNNAMED, UNNAMED)),
    ("scan", (*SCAN, "StandardColumnData::Select", "ColumnData::SelectVector", "Vector::Slice",
              "VectorBuffer::Slice", "DictionaryBuffer::SliceInternal")),
    ("scan", (*PIPELINE, "PhysicalTableScan::GetDataInternal", "DataTable::NextParallelScan",
              "RowGroupCollection::NextParallelScan", "ColumnData::InitializeScanWithOffset")),
    ("scan", (*SCAN, UNNAMED, UNNAMED)),
    ("scan", (*SCAN, "Vector::Slice", "StandardVectorBuffer::SliceInternal", UNNAMED)),
    ("filter", (*SCAN, "ComparisonFilterExecutor::[virtual 2]", UNNAMED)),
    ("filter", (*SCAN, "ConjunctionAndFilterExecutor::[virtual 2]")),
    ("filter", (*FILTERED, "ColumnData::FilterVector", UNNAMED)),
    ("filter", (*FILTERED, "ColumnSegment::FilterSelection", *EXECUTORS, UNNAMED)),
    ("filter", (*PIPELINE, "PhysicalFilter::ExecuteInternal", *EXECUTORS,
                "ComparisonSelect<duckdb::GreaterThan>", "VectorOperations::GreaterThan")),
    ("join filter", (*SCAN, "PrefixRangeFilterExecutor::FilterSelection")),
    ("join filter", (*SCAN, "PrefixRangeFilterExecutor::[virtual 2]",
                     "NumericPrefixRangeFilter<long>::[virtual 8]", UNNAMED)),
    ("join filter", (*BUILD, "JoinFilterPushdownInfo::Sink", "LocalUngroupedAggregateState::Sink")),
    ("join filter", (*PIPELINE, "PhysicalHashJoin::Finalize", "JoinHashTable::Finalize",
                     "JoinHashTable::InsertPrefixRangeChunk", UNNAMED)),
    ("string match", (*FILTERED, "ColumnSegment::FilterSelection", *EXECUTORS, "FindStrInStr",
                      "__memchr_evex")),
    ("hash build", (*BUILD, "JoinHashTable::Build", *APPEND, "__memcpy_avx_unaligned_erms")),
    ("hash build", (*BUILD, "JoinHashTable::Build", "JoinHashTable::Hash",
                    "VectorOperations::Hash")),
    ("hash build", (*PIPELINE, "PhysicalHashJoin::Finalize",
                    "PerfectHashJoinExecutor::FullScanHashTable", "JoinHashTable::ScanKeyColumn")),
    ("hash probe", (*JOIN, "JoinHashTable::Probe", "JoinHashTable::GetRowPointers")),
    ("hash probe", (*JOIN, "JoinHashTable::Probe", "JoinHashTable::GetRowPointers",
                    "RowMatcher::Match", UNNAMED)),
    ("hash probe", (*JOIN, "JoinHashTable::Probe", "JoinHashTable::Hash",
                    "VectorOperations::CombineHash")),
    ("hash probe", (*JOIN, "JoinHashTable::ScanStructure::NextInnerJoin",
                    "JoinHashTable::GatherRHS", UNNAMED)),
    ("aggregate", (*GROUP, "GroupedAggregateHashTable::FindOrCreateGroupsInternal",
                   "RowMatcher::Match", UNNAMED)),
    ("aggregate", (*GROUP, "GroupedAggregateHashTable::FindOrCreateGroupsInternal", *APPEND)),
    ("aggregate", (*GROUP, "GroupedAggregateHashTable::UpdateAggregates", UNNAMED)),
    ("aggregate", (*GROUP, "StringHeapHolder::[virtual 1]")),
    ("aggregate", (*PIPELINE, "BaseAggregateHashTable::[virtual 0]")),
    ("expression", (*PROJECT, "ScalarFunction::BinaryFunction<long, duckdb::AddOperator>")),
    ("expression", (*JOIN, "ExpressionExecutor::Execute", "SubstringASCII")),
    ("sort", (*PIPELINE, "PhysicalOrder::Sink", "Sort::Sink", "ExpressionExecutor::Execute",
              UNNAMED)),
    ("sort", (*PIPELINE, "PhysicalTopN::Sink", "TopNHeap::Sink",
              "CreateSortKeyHelpers::CreateSortKey")),
    ("memory", (*JOIN, "DataChunk::Reset", UNNAMED)),
    ("memory", (*JOIN[:-1], "DataChunk::Append", "Vector::Append",
                "VectorStringBuffer::CopyInternal")),
    ("memory", (*SCAN, "Vector::Slice", "StandardVectorBuffer::SliceInternal", "operator new",
                "malloc")),
    ("buffer manager", (*SCAN, "BitpackingInitScan<long>", "StandardBufferManager::Pin")),
    ("optimiser/parse", (*PLAN, "Binder::Bind", "Value::Value", UNNAMED)),
    ("optimiser/parse", (*PLAN, "Optimizer::Optimize", "ExpressionIterator::EnumerateChildren")),
    ("catalogue", (*PLAN, "Binder::Bind", "Catalog::GetEntry", "CatalogSet::GetEntryDetailed")),
    ("result", (*PIPELINE, "PhysicalResultSink::Sink", "ArrowVarcharData<false>::Append")),
    ("scheduling", ("ClientContext::CleanupInternal", "Executor::CancelTasks", UNNAMED)),
    (UNCLASSIFIED, (*PIPELINE, UNNAMED)),
    (UNCLASSIFIED, (*PIPELINE, "StringHeapHolder::[virtual 1]")),
    (UNCLASSIFIED, (*PIPELINE, "SomethingNew::Execute")),
]  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> Rules:
    recorded = find_engine("duckdb").operations()
    assert recorded is not None
    return combined(rules_of(recorded, "operations.toml"), shared_rules())


def full_name(short: str) -> str:
    if short.startswith((*LIBRARIES, "duckdb_")):
        return short
    return f"duckdb::{short}"


def work_of(path: tuple[str, ...], rules: Rules) -> str:
    """The work of a stack that is written from the outermost function to the innermost."""
    names = [None if short == UNNAMED else full_name(short) for short in path]
    files = [
        next((file for start, file in LIBRARIES.items() if short.startswith(start)), DUCKDB)
        for short in path
    ]
    places = range(len(path))
    verdicts = classify([place - 1 for place in places], places, Places(names, files), rules.rules)
    rule = verdicts.rules[-1]
    return UNCLASSIFIED if rule is None else rules.rules[rule].work or ""


@pytest.mark.parametrize(
    ("work", "path"), TRUTH, ids=[f"{cause[0]}: {cause[1][-1]}" for cause in TRUTH]
)
def test_a_stack_works_at(work: str, path: tuple[str, ...], rules: Rules) -> None:
    assert work_of(path, rules) == work


def test_the_executor_itself_is_at_no_work(rules: Rules) -> None:
    assert "duckdb::PipelineExecutor::Execute" in rules.outermost
    for outermost in rules.outermost:
        resting = f'[[rules]]\nwork = "scan"\nsymbols = ["{outermost}"]\nsays = "All."\n'
        with pytest.raises(UsageError, match="outermost"):
            combined(parse_rules(resting, "mine.toml"), rules)


def test_no_rule_names_all_of_duckdb(rules: Rules) -> None:
    alone = [glob for rule in rules.rules if not rule.under for glob in rule.symbols]
    assert not {"duckdb::*", "duckdb*", "duckdb::*::*"} & set(alone)
