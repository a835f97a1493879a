"""Analyses a load: rate, latency, backlog, steadiness, mixes and transactions."""
