"""What a load did: rate, latency, backlog, steadiness, mixes and transactions."""
