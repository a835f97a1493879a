"""PostgreSQL: private and running servers."""
