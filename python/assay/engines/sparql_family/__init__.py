"""What engines share that are asked by the SPARQL protocol over HTTP; no engine itself."""
