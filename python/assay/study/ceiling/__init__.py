"""What a host can do: which trials are made of it, where, and how they become a record."""
