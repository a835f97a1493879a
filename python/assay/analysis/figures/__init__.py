"""Results of a study as tables, charts and sentences; each file makes one kind of result."""
