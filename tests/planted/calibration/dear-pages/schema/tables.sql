create table claims as select id as claim_no, (id * 19) % ${policies} + 1 as policy_no, id % 50000 as cents, repeat('d', 80) as damage from generate_series(1, ${claims}) as made (id);
create index claims_policy on claims (policy_no);
