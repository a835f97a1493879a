"""The request of a run: options, conditions, placement, and the plan that follows."""
