"""Workloads: schema, data, operations and known answers, one folder each."""
