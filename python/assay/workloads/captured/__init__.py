"""Makes workloads from captured statements of other clients."""
