-- why: what reading blocks took sessions and their workers, whatever for; blk_read_time of the database drops what is below a microsecond of every read, which is most of one that the system's cache answers
-- from: 16
select 'blocks', 'read_time', sum(i.read_time)
from pg_stat_io as i
where i.backend_type in ('client backend', 'background worker') and i.object <> 'wal'
having sum(i.read_time) is not null
