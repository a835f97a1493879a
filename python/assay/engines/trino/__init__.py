"""Trino: a coordinator and workers that pass pages on while they make them; see README.md."""
