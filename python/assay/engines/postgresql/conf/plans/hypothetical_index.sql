-- Makes this connection's optimiser assume that an index exists; nothing on the server changes.
select indexname from {schema}.hypopg_create_index(%s)
