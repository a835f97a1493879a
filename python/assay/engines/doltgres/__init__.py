"""Doltgres: Dolt's storage, asked as PostgreSQL is."""
