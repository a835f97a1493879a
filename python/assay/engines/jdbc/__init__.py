"""The engine jdbc: any database with a JDBC driver; see README.md."""
