"""Findings about memory: too little of it, or unused contents."""
