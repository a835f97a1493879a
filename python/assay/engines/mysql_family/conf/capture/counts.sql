-- How often each statement of this schema was executed.
select /* assay capture */ digest, sum(count_star)
from performance_schema.events_statements_summary_by_digest
where schema_name = database() and digest is not null
group by digest
