"""Phrases on the load: operations, latencies, mixes, tests."""
