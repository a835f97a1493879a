"""Types of document sections on the load: operations, latencies, mixes, tests."""
