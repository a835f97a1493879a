-- It was seen.
begin;
select subject from mails where mail = ${mail};
update mails set seen = seen + 1 where mail = ${mail};
commit;
