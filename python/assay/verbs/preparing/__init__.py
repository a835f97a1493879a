"""Commands that list and prepare engines, workloads, studies and data, and check the host."""
