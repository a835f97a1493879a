-- why: calls and times of each statement of this database since it was first seen, whoever executed it
-- from: 17
-- extension: pg_stat_statements
select
    coalesce(queryid::text, 'hidden') as statement,
    sum(calls)::float8 as calls,
    sum(total_exec_time)::float8 / 1000 as execution_seconds,
    sum(total_plan_time)::float8 / 1000 as planning_seconds,
    sum(rows)::float8 as rows,
    sum(shared_blks_hit)::float8 * current_setting('block_size')::integer as cache_hit_bytes,
    sum(shared_blks_read)::float8 * current_setting('block_size')::integer as cache_read_bytes,
    sum(shared_blks_dirtied)::float8 * current_setting('block_size')::integer as dirtied_bytes,
    sum(shared_blk_read_time)::float8 / 1000 as read_seconds,
    sum(shared_blk_write_time)::float8 / 1000 as write_seconds,
    sum(temp_blks_read)::float8 * current_setting('block_size')::integer as temporary_read_bytes,
    sum(temp_blks_written)::float8 * current_setting('block_size')::integer as temporary_written_bytes,
    sum(wal_bytes)::float8 as log_bytes
from pg_stat_statements(false)
where dbid = (select oid from pg_database where datname = current_database()) and toplevel
group by 1
