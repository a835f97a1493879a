"""Plans runs (without side effects) and carries them out, joining engines and workloads."""
