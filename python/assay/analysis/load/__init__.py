"""Analyses a load: rate, latency, backlog, steadiness, query mixes and transactions."""
