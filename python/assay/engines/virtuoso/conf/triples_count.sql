-- Statements of a graph: those that are there twice are one.
select count(*) as triples from DB.DBA.RDF_QUAD where G = iri_to_id (?)
