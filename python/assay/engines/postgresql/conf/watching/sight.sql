-- Whether the extension's view is there, its library is loaded, this role sees others' statements,
-- the view counts planning, and how many sessions of other roles there are.
select
    exists (select from pg_extension where extname = 'pg_stat_statements'),
    current_setting('pg_stat_statements.max', true) is not null,
    pg_has_role(current_user, 'pg_read_all_stats', 'usage'),
    current_setting('track_activities') = 'on',
    current_setting('compute_query_id', true) in ('on', 'auto', 'regress'),
    current_user::text,
    current_database()::text
