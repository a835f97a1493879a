"""Resolves a run's request into a run that is ready to execute.

All invalid requests are refused here, before anything is written, loaded or started.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.engines.contract import Speaks
from assay.engines.discovery import find_engine
from assay.running.asked.asked_run import Asked, language_asked
from assay.running.asked.checking import check_connections, check_request
from assay.running.asked.obtaining import check_settings, obtained
from assay.running.asked.preflight import check_tables
from assay.running.asked.space import check_space
from assay.running.asked.writing import check_writes
from assay.running.host.usable import refuse_unusable_cache, refuse_unusable_state
from assay.running.processes.held_signals import let_ctrl_c_end_waits
from assay.running.server.server_tables import has_server_tables
from assay.workloads.answers import check_answers
from assay.workloads.choosing import (
    only,
    with_foreign_keys,
    with_server_tables,
    with_texts,
    without_parts,
)
from assay.workloads.discovery import find_workload

if TYPE_CHECKING:
    from assay.running.asked.request import RunRequest
    from assay.running.telling import Teller


def understood(request: RunRequest, teller: Teller) -> Asked:
    """Resolve a request into a run that is ready to execute, and obtain its engine.

    Raises:
        UsageError: If the request names something that does not exist.
        EngineError: If the engine cannot be obtained or refuses a setting.
    """
    let_ctrl_c_end_waits()
    asked = considered(request)
    asked = replace(asked, **obtained(asked, teller)._asdict())
    check_settings(asked)
    return asked


def considered(request: RunRequest) -> Asked:
    """Resolve a request without obtaining the engine or contacting a server.

    Raises:
        UsageError: If the request names something that does not exist.
    """
    workload = only(find_workload(request.workload), request.operations)
    workload = without_parts(workload, request.remove)
    engine = find_engine(request.engine)
    language = language_asked(request, workload, engine)
    if request.foreign_keys:
        workload = with_foreign_keys(workload)
        # Some dialects cannot have keys, which is checked here without starting a server.
        workload.keys(engine.facts.dialects_of(language), request.scale)
    if request.forced:
        texts = {name: forced["sql"] for name, forced in request.forced.items()}
        workload = with_texts(workload, texts)
    behaviour = engine.engine()
    if isinstance(behaviour, Speaks):
        behaviour.speak(language)
    if has_server_tables(request, workload, behaviour):
        workload = with_server_tables(workload, None)
    check_request(request, workload, engine, behaviour, language)
    asked = Asked(request, workload, engine, behaviour, "", None)
    refuse_unusable_state()
    if request.dsn is None and engine.facts.kind != "none" and workload.makes_data:
        refuse_unusable_cache()
    check_space(request, workload, engine)
    check_answers(workload, request.scale, language)
    # A missing script is reported now, before the engine is started.
    workload.setup(engine.facts.dialects_of(language), request.scale)
    check_writes(asked)
    check_tables(asked)
    asked.facts()
    check_connections(asked)
    return asked
