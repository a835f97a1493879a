"""Tables and charts of single queries: times, plans, CPU profile and correctness."""
