"""Classifies functions of an engine by their kind of work: names, rules, verdicts."""
