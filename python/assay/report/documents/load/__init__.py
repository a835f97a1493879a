"""Documents' types of the load: operations, latencies, mixes, tests."""
