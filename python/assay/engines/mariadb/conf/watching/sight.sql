-- Whether statements are counted, whether this user sees those of others, and the user.
select
  @@performance_schema
    and (select count(*) from performance_schema.setup_consumers where name in ('global_instrumentation', 'statements_digest') and enabled = 'YES') = 2
    and (select count(*) from performance_schema.setup_instruments where name like 'statement/sql/%' and enabled = 'YES' and timed = 'YES') > 10,
  (select count(*) from information_schema.user_privileges where privilege_type in ('PROCESS', 'SUPER')) > 0,
  current_user()
