"""Any endpoint of SPARQL that runs already."""
