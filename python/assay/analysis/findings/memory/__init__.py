"""Findings about memory: what was too little, and what is kept in vain."""
