"""Analyses CPU samples of the engine by kind of work, such as join or sort."""
