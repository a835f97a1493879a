"""The engine `null`: no process, no data, a session that answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._core import NullSession
from assay.engines.contract import EngineError, Instance, Place, Product
from assay.model.errors import suggestion
from assay.model.units import NS_PER_S, parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.engines.contract import Tell, Wanted
    from assay.engines.facts import EngineFacts
    from assay.model.script import Script

VERSION = "0"


class NullEngine:
    """The engine `null`, which does nothing."""

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts

    def obtain(self, wanted: Wanted, tell: Tell) -> Product:
        """Return the null engine, which is always available in its only version."""
        del tell
        if wanted.version not in (None, VERSION):
            raise EngineError(
                f"the engine null has no version {wanted.version}; its only version is {VERSION}"
            )
        return Product(VERSION)

    def check_settings(self, product: Product, settings: Mapping[str, str]) -> None:
        """Check the settings of the engine `null`."""
        del product
        self._session(settings)

    def start(self, place: Place, settings: Mapping[str, str]) -> Instance:
        """Read the settings; there is no process to start."""
        effective = {**self._facts.settings, **settings}
        return Instance(effective, self._session(settings), place)

    def _session(self, settings: Mapping[str, str]) -> NullSession:
        names = list(self._facts.settings)
        for key in settings:
            if key not in names:
                raise EngineError(
                    f"the engine null has no setting {key!r}; {suggestion(key, names)}"
                )
        effective = {**self._facts.settings, **settings}
        try:
            delay_ns = round(parse_duration_s(effective["delay"]) * NS_PER_S)
            fail_every = int(effective["fail_every"])
            return NullSession(delay_ns, fail_every)
        except (ValueError, OverflowError) as error:
            raise EngineError(
                f"the engine null rejects its settings: {error}. Write them as --set delay=2ms "
                "--set fail_every=10."
            ) from error

    def stop(self, instance: Instance) -> None:
        """Stop nothing, because the engine `null` has no process."""

    def effective_settings(self, instance: Instance) -> dict[str, str]:
        """Return the settings of the engine `null`."""
        return dict(instance.settings)

    def sessions(self, instance: Instance, script: Script, seed: int, clients: int) -> list[object]:
        """Return one null session per client, whatever the script."""
        return self.share_of_sessions(instance, script, seed, range(clients))

    def share_of_sessions(
        self, instance: Instance, script: Script, seed: int, numbers: range
    ) -> list[object]:
        """Return the sessions of the engine `null` with the given numbers."""
        del script, seed
        return [instance.handle] * len(numbers)


def engine(facts: EngineFacts) -> NullEngine:
    """Return the engine `null`, with the facts of its `engine.toml`."""
    return NullEngine(facts)
