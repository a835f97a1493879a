-- What the server's `rdf_loader_run` does with each file of its list.
DB.DBA.ld_file (?, ?)
