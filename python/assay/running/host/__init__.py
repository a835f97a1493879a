"""The host: what it can measure, its devices and memory, and the start state of a run."""
