"""Doltgres: Dolt's storage with PostgreSQL's protocol."""
