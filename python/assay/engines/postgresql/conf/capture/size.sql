-- Bytes of a statement's text that a session shows, less the one that ends it.
select /* assay capture */ setting::int - 1 from pg_settings where name = 'track_activity_query_size'
