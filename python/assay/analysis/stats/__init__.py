"""Statistics: intervals, rounds, and what may be looked at again and again."""
