"""The host: its abilities, devices and memory, and the start state of a run."""
