"""Oxigraph's two engines without a server: settings, programs, what its functions work at."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.analysis.work.classify import Places, classify
from assay.analysis.work.rules import combined, rules_of, shared_rules
from assay.engines.contract import EngineError, Product
from assay.engines.discovery import find_engine
from assay.engines.oxigraph_server.programs import find_program, version_of
from assay.engines.oxigraph_server.server import options_of

SEEK = (
    "rocksdb_iter_seek",
    "rocksdb::DBIter::Seek",
    "rocksdb::BlockBasedTableIterator::SeekImpl",
    "rocksdb::DataBlockIter::SeekImpl",
)
NEXT = (
    "rocksdb::ArenaWrappedDBIter::Next",
    "rocksdb::DBIter::Next",
    "rocksdb::MergingIterator::Next",
)
ITERATOR = "<oxigraph::storage::rocksdb::RocksDbDecodingQuadIterator as core::iter::Iterator>::next"
EVALUATOR = "<spareval::eval::SimpleEvaluator<oxigraph::sparql::dataset::DatasetView>>"
BUILT = f"{EVALUATOR}::build_graph_pattern_evaluator"
TRUTH = [
    ("index look-up", (*SEEK, "rocksdb::BlockIter<rocksdb::Slice>::FindKeyAfterBinarySeek",
                       "rocksdb::DataBlockIter::NextImpl",
                       "rocksdb::BlockIter<rocksdb::Slice>::ParseNextKey<x, false>",
                       "rocksdb::IterKey::TrimAppend")),
    ("index look-up", (*SEEK, "{virtual override thunk}", "memcmp@plt")),
    ("index look-up", ("rocksdb::DBImpl::NewIterator", "rocksdb::Version::AddIteratorsForLevel")),
    ("scan", (ITERATOR, *NEXT, "rocksdb::DataBlockIter::NextImpl")),
    ("decode", (ITERATOR, "<&[u8] as oxigraph::storage::binary_encoder::TermReader>::read_term")),
    ("buffer manager", (*SEEK, "rocksdb::clock_cache::AutoHyperClockTable::Lookup")),
    ("decode", (*SEEK, "rocksdb::BlockFetcher::ReadBlockContents", "LZ4_decompress_safe")),
    ("aggregate", (f"{BUILT}::{{closure#32}}",
                   "<spareval::eval::AvgAccumulator as spareval::eval::Accumulator>::finish")),
    ("sort", (f"{BUILT}::{{closure#22}}", "core::slice::sort::unstable::quicksort::<x>")),
    ("optimiser/parse", ("oxigraph::handle_request", "spargebra::parser::parser::__parse_Path")),
    ("optimiser/parse", ("oxigraph::handle_request", "<sparopt::optimizer::Optimizer>::normalize")),
    ("network/protocol", ("oxhttp::io::encoder::encode_body::<x>",)),
    ("result", ("oxhttp::io::encoder::encode_body::<x>",
                "<sparesults::tsv::WriterTsvSolutionsSerializer<x>>::serialize")),
]  # fmt: skip


@pytest.mark.parametrize(("work", "path"), TRUTH, ids=[cause[1][-1][:60] for cause in TRUTH])
def test_a_stack_works_at(work: str, path: tuple[str, ...]) -> None:
    document = find_engine("oxigraph").operations()
    assert document is not None
    rules = combined(rules_of(document, "operations.toml"), shared_rules()).rules
    nodes = range(len(path))
    places = Places(path, ["oxigraph"] * len(path))
    verdict = classify([node - 1 for node in nodes], nodes, places, rules).rules[-1]
    assert verdict is not None
    assert rules[verdict].work == work


def test_both_engines_have_the_same_rules() -> None:
    engine, other = find_engine("oxigraph"), find_engine("oxigraph-server")
    assert engine.operations() == other.operations()
    assert engine.facts.version_pinned == other.facts.products[0].version


class TestSettings:
    def test_settings_are_options_of_the_program(self) -> None:
        assert options_of({"union-default-graph": "false"}) == []
        options = options_of({"union-default-graph": "true", "timeout-s": "30"})
        assert options == ["--union-default-graph", "--timeout-s", "30"]

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"timeout": "30"}, "did you mean 'timeout-s'"),
            ({"timeout-s": "0"}, "whole number of seconds"),
            ({"union-default-graph": "yes"}, "true or false"),
        ],
    )
    def test_what_there_is_not_is_refused(self, settings: dict[str, str], message: str) -> None:
        with pytest.raises(EngineError, match=message):
            options_of(settings)

    def test_the_embedded_one_knows_truths_alone(self) -> None:
        engine = find_engine("oxigraph").engine()
        with pytest.raises(EngineError, match="true or false"):
            engine.check_settings(Product("0"), {"use_default_graph_as_union": "1"})


class TestProgram:
    def test_a_directory_without_it_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EngineError, match="has no program oxigraph"):
            find_program(Product("", tmp_path))

    def test_another_program_of_the_name_is_refused(self, tmp_path: Path) -> None:
        program = tmp_path / "oxigraph"
        program.write_text("#!/bin/sh\necho something else 1\n")
        program.chmod(0o755)
        assert find_program(Product("", tmp_path)) == program
        with pytest.raises(EngineError, match=r"is not Oxigraph: something else 1\."):
            version_of(program)
