"""Processes that a run starts, and the guardian that ends them with the run."""
