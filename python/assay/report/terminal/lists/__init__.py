"""Terminal output of lists: engines, workloads, studies, runs, abilities and written files."""
