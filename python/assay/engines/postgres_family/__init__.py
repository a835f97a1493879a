"""Shared code of engines with PostgreSQL's protocol: connections and SQL in files."""
