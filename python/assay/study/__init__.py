"""Plans runs (pure) and carries them out: the one place where engines and workloads meet."""
