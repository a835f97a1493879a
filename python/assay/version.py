"""The version of Assay, as a constant."""

from __future__ import annotations

VERSION = "0.1.0"
