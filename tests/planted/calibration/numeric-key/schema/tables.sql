create table contracts as select id as contract_no, id % 88 as tariff, repeat('c', 70) as terms from generate_series(1, ${contracts}) as made (id);
alter table contracts add primary key (contract_no);
