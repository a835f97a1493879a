"""The null engine, which answers at once."""
