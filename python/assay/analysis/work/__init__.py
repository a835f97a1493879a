"""What a place in an engine's code works at: names of functions, rules over them, verdicts."""
