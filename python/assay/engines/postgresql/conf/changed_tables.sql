-- Tables of the namespace that new tables go to, without those that were vacuumed and analysed as they are; the
-- largest first, so that none is alone at the end.
select pg_class.relname
from pg_class
left join pg_stat_user_tables as counted on counted.relid = pg_class.oid
where relnamespace = current_schema()::regnamespace
      and relkind in ('r', 'm')
      and (last_vacuum is null
           or last_analyze is null
           or n_ins_since_vacuum + n_dead_tup + n_mod_since_analyze > 0)
order by pg_relation_size(pg_class.oid) desc
