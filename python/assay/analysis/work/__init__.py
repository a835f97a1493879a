"""Classifies functions of an engine by the work they do: names, rules, verdicts."""
