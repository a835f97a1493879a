-- What do some callers want?
select (select count(*) from helpdesk where caller = 17), (select count(*) from helpdesk where caller = 4711),
  (select count(*) from helpdesk where caller = 815), (select count(*) from helpdesk where caller = 9999),
  (select count(*) from helpdesk where caller = 12), (select count(*) from helpdesk where caller = 20001)
