"""Lists on a terminal: engines, workloads, studies, runs, abilities and written files."""
