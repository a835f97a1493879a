"""What bounds a workload, by resources that were made slower."""
