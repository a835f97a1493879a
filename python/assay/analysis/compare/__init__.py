"""Compares two sides of a study: their difference, and how much of it each change explains."""
