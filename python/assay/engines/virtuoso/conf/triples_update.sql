-- Requests to the SPARQL page are executed as this account, which may change data.
grant SPARQL_UPDATE to "SPARQL"
