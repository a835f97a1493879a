-- What this session has inserted is counted now: counted after a vacuum, it would be taken for rows that came later.
select pg_stat_force_next_flush()
