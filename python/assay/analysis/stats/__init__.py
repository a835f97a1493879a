"""Statistics: intervals, comparisons in rounds, and intervals that stay valid at any time."""
