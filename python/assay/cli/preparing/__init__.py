"""Commands that list and prepare engines, workloads, studies and data, one file each."""
