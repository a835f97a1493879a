"""Starts, connects, loads and kills servers, and checks them after a crash."""
