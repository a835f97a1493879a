-- why: SQLite locks no rows: a transaction that writes says so at its begin, and waits there for its turn.
-- An indexed column and another one change, and a row is replaced by one with the same key.
begin immediate;
update sbtest1 set k = k + 1 where id = ${index_update};
update sbtest1 set c = ${new_content} where id = ${other_update};
delete from sbtest1 where id = ${replaced};
insert into sbtest1 (id, k, c, pad)
values (${replaced}, ${replaced_k}, ${replaced_content}, ${replaced_pad});
commit;
