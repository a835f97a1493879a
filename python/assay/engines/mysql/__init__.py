"""MySQL: private servers, and servers that run already."""
