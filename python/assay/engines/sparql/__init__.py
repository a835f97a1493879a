"""Any running SPARQL endpoint."""
