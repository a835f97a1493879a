-- Whoever asks over the web server of this private server may change what is in it.
grant SPARQL_UPDATE to "SPARQL"
