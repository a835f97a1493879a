"""Analyses other activity in the server: sessions, maintenance, and blocking."""
