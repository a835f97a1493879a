"""Types of document sections on the load: operations, latencies, query mixes, tests."""
