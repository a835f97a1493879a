"""The engine `sparql`: any running SPARQL endpoint."""
