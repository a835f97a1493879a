"""Plans: those that were captured, their shapes, their work, and what differs."""
