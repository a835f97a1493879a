"""A search for better settings of an engine, as runs of a growing study."""
