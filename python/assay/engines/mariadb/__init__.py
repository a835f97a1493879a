"""MariaDB: private servers, and servers that run already."""
