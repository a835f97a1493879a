"""How a workload grows with clients or scale."""
