"""MariaDB: private and running servers."""
