"""Checks that judge a host's ceiling; each file holds one check."""
