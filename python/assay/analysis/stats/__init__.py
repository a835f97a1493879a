"""Statistics: intervals, rounds, and intervals that allow repeated looks."""
