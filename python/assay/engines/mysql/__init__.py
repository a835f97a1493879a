"""MySQL: private and running servers."""
