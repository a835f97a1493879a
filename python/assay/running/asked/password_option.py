"""Declares the option that asks for a password, which commands have and study files do not."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from assay.running.asked.declaring import Group, Option


class PasswordOptions(BaseModel):
    """The option with which a command asks for a password at the terminal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ask_password: Annotated[
        bool,
        Option(
            Group.SERVER,
            "Ask for the password of the running server at the terminal, once, before anything"
            " else is done; not a key of study files.",
        ),
    ] = False
