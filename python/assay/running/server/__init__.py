"""Servers: starting, connecting, loading, killing, and checks after a crash."""
