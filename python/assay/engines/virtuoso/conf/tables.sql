-- Tables that hold what was loaded: those that a new database does not have, and those of triples where there are any.
select distinct KEY_TABLE
from DB.DBA.SYS_KEYS
where (KEY_TABLE not in (select KEY_TABLE from DB.DBA.assay_first_tables) and KEY_TABLE not like 'DB.DBA.assay_%')
  or (
    KEY_TABLE in ('DB.DBA.RDF_QUAD', 'DB.DBA.RDF_OBJ', 'DB.DBA.RDF_IRI')
    and exists (select 1 from DB.DBA.RDF_QUAD where G = iri_to_id ('{graph}'))
  )
order by KEY_TABLE
