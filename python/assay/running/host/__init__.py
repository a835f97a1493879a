"""The host: what it lets us measure, its devices and memory, and the state that a run begins in."""
