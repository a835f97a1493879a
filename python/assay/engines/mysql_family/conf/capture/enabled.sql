-- Whether statements are counted and kept.
select /* assay capture */ name
from performance_schema.setup_consumers
where name in ('statements_digest', 'events_statements_history') and enabled = 'YES'
