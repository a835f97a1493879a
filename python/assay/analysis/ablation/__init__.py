"""Measures the time saved by removing query parts or disabling planner techniques."""
