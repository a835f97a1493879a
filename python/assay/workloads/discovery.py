"""Finds workloads by name, or in a folder that the user names."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assay.model.errors import UsageError, suggestion
from assay.model.foreign_text import parse_toml
from assay.model.language import SUFFIXES
from assay.workloads.answers import ANSWERS
from assay.workloads.contract import Workload
from assay.workloads.facts import WorkloadFacts, keys_at
from assay.workloads.operation_facts import OperationFacts
from assay.workloads.streams import stream_order
from assay.workloads.texts import MANIFEST, operation_files, read_text, recorded_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.workloads.facts import RefreshFacts

NO_NAME = re.compile(r"[^\w.-]+")
OURS = Path(__file__).parent
# Keys that a workload takes from the one whose data it uses, and cannot set itself.
OF_DATA = ("generator", "tables", "triples", "turtle", "scale_default", "scale_name", "legal")
# Keys that operations refer to, which may also come from the workload with the data.
OF_TEXTS = ("constants", "lists", "programs")
OF_OWN_DATA = {"generator", "tables", "triples", "turtle", "setup", "foreign_keys", "refresh"}


def find_workloads() -> dict[str, Workload]:
    """Return all workloads that can be named, by name."""
    folders = [path.parent for root in _roots() for path in sorted(root.glob(f"*/{MANIFEST}"))]
    workloads: dict[str, Workload] = {}
    for folder in folders:
        workload = read_workload(folder)
        workloads.setdefault(workload.facts.name, workload)
    return workloads


def _roots() -> list[Path]:
    """Return the folders that contain named workloads."""
    others = os.environ.get("ASSAY_WORKLOADS", "").split(":")
    return [OURS, *(Path(text) for text in others if text)]


def find_workload(named: str) -> Workload:
    """Return the workload with a given name or folder.

    A text with a slash is a folder. The name of an existing folder also is one, if it is not the
    name of a workload.

    Raises:
        UsageError: If no workload has this name, or it cannot be read. The error message names the
            most similar one.
    """
    if "/" in named:
        return read_workload(Path(named).expanduser())
    # Most workloads have the name of their folder, so the others need not be read.
    for folder in (root / named for root in _roots()):
        workload = read_workload(folder) if (folder / MANIFEST).is_file() else None
        if workload is not None and workload.facts.name == named:
            return workload
    workloads = find_workloads()
    if named in workloads:
        return workloads[named]
    if Path(named).is_dir():
        return read_workload(Path(named))
    raise UsageError(f"unknown workload {named!r}; {suggestion(named, list(workloads))}")


def read_workload(folder: Path) -> Workload:
    """Return the workload in a folder, whose manifest may be missing.

    Raises:
        UsageError: If the manifest has an error. The error message has file, key and remedy.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder{_neighbour(folder)}")
    manifest = folder / MANIFEST
    # A broken link counts as an existing file that cannot be read.
    is_there = manifest.exists() or manifest.is_symlink()
    facts = _manifest(manifest) if is_there else WorkloadFacts()
    source = None if facts.data_of is None else _source(facts, folder, manifest)
    shared = _sharing(facts, source)
    workload = Workload(_completed(shared, folder, manifest, source), folder, source=source)
    _refuse_contradictions(workload.facts, manifest)
    _refuse_stray_files(workload, manifest)
    return replace(workload, differs_from=_differs_from(workload))


def _source(facts: WorkloadFacts, folder: Path, manifest: Path) -> Workload:
    """Return the workload whose data another workload uses."""
    named = str(facts.data_of)
    if own := sorted(OF_OWN_DATA & facts.model_fields_set):
        raise UsageError(
            f"{manifest}: {own[0]} declares data of this workload, and data_of uses the data of "
            f"{named}: remove one of the two"
        )
    places = [folder / named] if "/" in named else [root / named for root in _roots()]
    source_folder = next((place for place in places if (place / MANIFEST).is_file()), None)
    if source_folder is None:
        names = [path.parent.name for root in _roots() for path in root.glob(f"*/{MANIFEST}")]
        raise UsageError(
            f"{manifest}: data_of names the unknown workload {named!r}; {suggestion(named, names)}"
        )
    source = read_workload(source_folder)
    if source.source is not None:
        raise UsageError(
            f"{manifest}: data_of names {named!r}, which itself uses the data of "
            f"{source.facts.data_of!r}: name {source.facts.data_of!r}"
        )
    return source


def _sharing(facts: WorkloadFacts, source: Workload | None) -> WorkloadFacts:
    """Return a workload's facts, completed by those of the workload whose data it uses."""
    if source is None:
        return facts
    of_data = {key: getattr(source.facts, key) for key in OF_DATA}
    own = {key: getattr(facts, key) for key in OF_DATA if key in facts.model_fields_set}
    both = {key: getattr(source.facts, key) | getattr(facts, key) for key in OF_TEXTS}
    return facts.model_copy(update=of_data | own | both)


def _differs_from(workload: Workload) -> str | None:
    """Return Assay's workload of equal metric names but other content; None without one."""
    metrics = workload.facts.metrics
    if metrics is None or workload.folder.resolve().parent == OURS.resolve():
        return None
    taken = set(metrics.model_dump().values())
    for path in sorted(OURS.glob(f"*/{MANIFEST}")):
        ours = read_workload(path.parent)
        names = ours.facts.metrics
        is_same = ours.content_hash == workload.content_hash
        if names is not None and taken & set(names.model_dump().values()) and not is_same:
            return ours.facts.name
    return None


@lru_cache
def _facts_in(text: str) -> WorkloadFacts:
    """Return the validated facts of a workload's manifest, cached by its text."""
    return WorkloadFacts.model_validate(parse_toml(text))


def _manifest(path: Path) -> WorkloadFacts:
    try:
        return _facts_in(read_text(path))
    except ValidationError as error:
        # A misspelt key is reported before the key that is missing because of it.
        errors = sorted(error.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        first = errors[0]
        location = first["loc"]
        hint = ""
        if first["type"] == "extra_forbidden":
            hint = f"; {suggestion(str(location[-1]), keys_at(location))}"
        key = ".".join(str(part) for part in location)
        raise UsageError(f"{path}: {key}: {first['msg']}{hint}") from error
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _completed(
    facts: WorkloadFacts, folder: Path, manifest: Path, source: Workload | None
) -> WorkloadFacts:
    """Return a manifest's facts with those that follow from the folder, such as names."""
    name = NO_NAME.sub("-", folder.resolve().name).strip("-.") or "workload"
    operations_folder = Workload(facts, folder).operations_folder
    files = _stems(folder, facts)
    if not files:
        raise UsageError(
            f"{operations_folder} contains no .sql or .rq file: write each operation into a "
            "separate file"
        )
    theirs = {} if source is None else source.facts.operations
    _refuse_unknown(manifest, facts, [*files, *(name for name in theirs if name not in files)])
    beside = (*facts.played_once, *facts.refresh_operations, *facts.recovered)
    named = (*facts.operations, *facts.order, *beside)
    played = dict.fromkeys(named if facts.order else files)
    known_facts = {
        name: operation for name, operation in theirs.items() if name not in files
    } | facts.operations
    operations = {name: known_facts.get(name, OperationFacts()) for name in played}
    written = {path.suffix for path in operation_files(folder, facts)}
    there = tuple(language for language, suffix in SUFFIXES.items() if suffix in written)
    return facts.model_copy(
        update={
            "name": facts.name or name,
            "title": facts.title or facts.name or folder.resolve().name,
            "operations": operations,
            "languages": facts.languages if "languages" in facts.model_fields_set else there,
            "order": facts.order or tuple(name for name in played if name not in beside),
        }
    )


def _stems(folder: Path, facts: WorkloadFacts) -> list[str]:
    """Return the names of the operations that have a query file in a workload's folder, sorted."""
    return sorted({path.name.split(".")[0] for path in operation_files(folder, facts)})


def _refuse_unknown(manifest: Path, facts: WorkloadFacts, files: list[str]) -> None:
    """Refuse a manifest that names operations without files."""
    named: Mapping[str, Sequence[str]] = {
        "order": facts.order,
        "before": facts.before,
        "after": facts.after,
        "checked": facts.checked,
        "operations": list(facts.operations),
        "refresh": facts.refresh_operations,
        "receipt": facts.recovered[:1],
        "parameters.sequences": facts.parameters.sequences,
    }
    ending = SUFFIXES[facts.languages[0]]
    for key, operations in named.items():
        for operation in operations:
            if operation not in files:
                hint = suggestion(operation, files)
                raise UsageError(
                    f"{manifest}: {key} names {operation!r}, and {operation}{ending} is missing;"
                    f" {hint}"
                )


def _refuse_contradictions(facts: WorkloadFacts, manifest: Path) -> None:
    if (facts.tables or facts.triples or facts.turtle) and facts.generator is None:
        raise UsageError(
            f"{manifest}: [tables] needs a generator, and none is named. If SQL fills the "
            "tables, declare them in a file of 'setup' only"
        )
    for key, names in (("before", facts.before), ("after", facts.after)):
        twice = [name for name in names if name in facts.order]
        if twice:
            raise UsageError(
                f"{manifest}: {twice[0]!r} is in order and in {key}: remove it from one of the two"
            )
    if not facts.order:
        where = "`before` or `after`" if facts.before else "`after`"
        raise UsageError(f"{manifest}: every operation is in {where}, so no operation is measured")
    _refuse_contradicting_tests(facts, manifest)
    _refuse_contradicting_clients(facts, manifest)
    _refuse_contradicting_receipt(facts, manifest)
    for name, operation in facts.operations.items():
        for both in operation.parameters.keys() & facts.constants.keys():
            raise UsageError(
                f"{manifest}: {both!r} is declared as a constant and as a parameter of {name!r}"
            )


def _refuse_contradicting_tests(facts: WorkloadFacts, manifest: Path) -> None:
    """Check that `[parameters]`, `[streams]` and `[refresh]` fit the order and the arrival."""
    parameters, refresh = facts.parameters, facts.refresh
    if facts.arrival != "power":
        for table, declared in (
            ("parameters", parameters.sequences),
            ("streams", facts.streams),
            ("refresh", refresh),
        ):
            if declared:
                raise UsageError(f'{manifest}: [{table}] needs arrival = "power"')
    for name in facts.order:
        if parameters.sequences and name not in parameters.sequences:
            raise UsageError(
                f"{manifest}: parameters.sequences lacks {name!r}: every operation needs a sequence"
            )
    if refresh is not None:
        _refuse_contradicting_refresh(facts, refresh, manifest)


def _refuse_contradicting_clients(facts: WorkloadFacts, manifest: Path) -> None:
    """Check that keys about clients that draw operations are used only with a mix."""
    for name in facts.played_once:
        if facts.operations[name].program:
            raise UsageError(
                f"{manifest}: {name!r} runs once, and its program runs in a mix only: remove "
                "the program, or put the operation into order"
            )
    if facts.arrival == "closed":
        _refuse_contradicting_sequence(facts, manifest)
        return
    operations = [(f"operations.{name}", facts.operations[name]) for name in facts.operations]
    named: dict[str, object] = {"deck": facts.deck, "programs": facts.programs}
    named |= {"terminals": facts.terminals, "rate": facts.rate, "sequence": facts.sequence}
    named |= {"checked": facts.checked}
    named |= {f"{key}.program": operation.program for key, operation in operations}
    named |= {f"{key}.wait": operation.wait for key, operation in operations}
    named |= {f"{key}.share_min": operation.share_min for key, operation in operations}
    for key, said in named.items():
        if said:
            raise UsageError(f'{manifest}: {key} needs arrival = "closed"')


def _refuse_contradicting_sequence(facts: WorkloadFacts, manifest: Path) -> None:
    """Check that clients either draw operations or execute them in order."""
    if facts.sequence is not None and (facts.deck or facts.terminals):
        key = "deck" if facts.deck else "terminals"
        raise UsageError(
            f"{manifest}: {key} is for clients that draw operations at random, and with "
            "[sequence] clients run operations in order: remove one of the two"
        )
    for name in facts.checked:
        if name not in facts.order:
            raise UsageError(f"{manifest}: checked names {name!r}, which is not in the order")


def _refuse_contradicting_receipt(facts: WorkloadFacts, manifest: Path) -> None:
    """Check that a program of the mix gives receipts (facts of acknowledged writes)."""
    receipt = facts.receipt
    if receipt is None:
        return
    giver = facts.operations.get(receipt.operation)
    if receipt.operation not in facts.order or giver is None or giver.program is None:
        raise UsageError(
            f"{manifest}: receipt.operation names {receipt.operation!r}, but only operations of "
            "order with a program have receipts"
        )
    if receipt.found in (*facts.order, *facts.played_once, *facts.refresh_operations):
        raise UsageError(
            f"{manifest}: receipt.found names {receipt.found!r}, which is also a measured "
            "operation: it may run on recovered databases only, so remove it from the other "
            "lists"
        )


def _refuse_contradicting_refresh(
    facts: WorkloadFacts, refresh: RefreshFacts, manifest: Path
) -> None:
    if refresh.tables and facts.generator is None:
        raise UsageError(f"{manifest}: refresh.tables needs a generator: name one")
    if strange := sorted(set(refresh.deletes) - set(facts.tables)):
        raise UsageError(f"{manifest}: refresh.deletes names {strange[0]!r}, which is not a table")
    for name in facts.refresh_operations:
        if name in (*facts.order, *facts.played_once):
            raise UsageError(
                f"{manifest}: {name!r} is in [refresh]: remove it from order, before and after"
            )
        if facts.operations[name].parameters:
            raise UsageError(
                f"{manifest}: {name!r} is in [refresh], which supplies only ${{set}}, "
                f"${{first}} and ${{last}}: remove its own parameters"
            )


def _refuse_stray_files(workload: Workload, manifest: Path) -> None:
    folder = workload.folder
    for key, names in _files_named(workload.facts).items():
        for name in names:
            if not (folder / name).resolve().is_relative_to(folder.resolve()):
                raise UsageError(
                    f"{manifest}: {key} names {name!r}, which is outside of the workload's folder"
                )
    if workload.facts.streams:
        stream_order(workload, 0)
    files = _stems(workload.folder, workload.facts)
    for path in sorted((folder / ANSWERS).rglob("*.csv")):
        if path.stem not in files:
            raise UsageError(
                f"the answer file {path} belongs to no operation; {suggestion(path.stem, files)}"
            )
        if path.stem in workload.drawn_operations and path.stem not in workload.facts.checked:
            raise UsageError(
                f"{path}: the parameter values of {path.stem} are drawn at each execution, so "
                "the answer varies. Declare the number of rows with 'rows' in workload.toml "
                "instead"
            )


def _files_named(facts: WorkloadFacts) -> Mapping[str, Sequence[str]]:
    """Return files that the manifest names, relative to the folder, by key."""
    refresh, streams = facts.refresh, facts.streams
    return {
        "setup": facts.setup or (),
        "foreign_keys": (facts.foreign_keys,) if facts.foreign_keys else (),
        "refresh.setup": refresh.setup if refresh else (),
        "refresh.keys": refresh.keys if refresh else (),
        "streams.orders": (streams.orders,) if streams else (),
        "values": recorded_files(facts),
    }


def _neighbour(folder: Path) -> str:
    """Return the workload's folder beside a missing one whose name is most similar to its name."""
    if folder.exists():
        return ": name the folder that it is in"
    parent = folder.parent
    if not parent.is_dir():
        return f": {parent} is not there either"
    folders = sorted(path.name for path in parent.iterdir() if path.is_dir() and _has_queries(path))
    return f"; {suggestion(folder.name, folders)}" if folders else ""


def _has_queries(folder: Path) -> bool:
    """Return True if a folder looks like that of a workload."""
    files = (MANIFEST, "*.sql", "*.rq", "operations/*.sql", "operations/*.rq")
    return any(next(folder.glob(name), None) is not None for name in files)
