"""Phrases on the load: operations, latencies, query mixes, tests."""
