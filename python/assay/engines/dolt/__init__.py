"""Dolt: a database with versions of its data, as MySQL is spoken to."""
