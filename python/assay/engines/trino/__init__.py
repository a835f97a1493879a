"""Trino: a coordinator and workers that stream pages to each other; see README.md."""
