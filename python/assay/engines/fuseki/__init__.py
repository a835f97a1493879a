"""Apache Jena Fuseki: an RDF server in Java."""
