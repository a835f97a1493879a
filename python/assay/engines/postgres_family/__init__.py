"""Parts of engines that speak PostgreSQL's protocol: connections and SQL in files."""
