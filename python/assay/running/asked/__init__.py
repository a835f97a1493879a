"""What a run is asked to be: options, conditions, placement, and the plan that follows."""
