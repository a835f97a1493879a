"""Any database with a JDBC driver; see README.md."""
