-- Texts of statements, with places for their constants.
select digest, min(digest_text), null
from performance_schema.events_statements_summary_by_digest
where digest in ({digests})
group by digest
