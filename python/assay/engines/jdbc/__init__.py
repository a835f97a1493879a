"""The engine `jdbc`: any running database that has a JDBC driver."""
