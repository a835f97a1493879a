-- Counts and samples of every index, for the planner.
analyze
