-- Texts of statements, with places for their constants, and one of each as it was sent.
select digest, min(digest_text), min(query_sample_text)
from performance_schema.events_statements_summary_by_digest
where digest in ({digests})
group by digest
