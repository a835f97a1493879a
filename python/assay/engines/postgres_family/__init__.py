"""What engines share whose servers are asked as PostgreSQL is: connections and SQL of files."""
