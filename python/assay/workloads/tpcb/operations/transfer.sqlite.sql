-- why: SQLite locks no rows: a transaction that writes says so at its begin, and waits there for its turn.
-- A teller of a branch changes the balance of an account, and leaves a trace of it.
begin immediate;
update accounts set balance = balance + ${delta} where account = ${account};
select balance from accounts where account = ${account};
update tellers set balance = balance + ${delta} where teller = ${teller};
update branches set balance = balance + ${delta} where branch = ${branch};
insert into history (teller, branch, account, delta, moment)
values (${teller}, ${branch}, ${account}, ${delta}, current_timestamp);
commit;
