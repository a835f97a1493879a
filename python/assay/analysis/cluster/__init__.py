"""The cluster line: what all nodes and each did a second, how evenly, and what they waited for."""
