"""Classifies the waits of sleeping threads: rules, and sampled states as time by cause."""
