-- One sorted part, with statistics for the optimiser: no merge is left that would run while queries are timed.
optimize table {table} final
