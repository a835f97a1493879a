"""Terminal output of lists: engines, workloads, studies, runs and written files."""
