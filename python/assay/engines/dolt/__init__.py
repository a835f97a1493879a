"""Dolt: a database with version history and MySQL's protocol."""
