select distinct KEY_TABLE
from DB.DBA.SYS_KEYS
where KEY_TABLE not in (select KEY_TABLE from DB.DBA.assay_first_tables)
  and KEY_TABLE not like 'DB.DBA.assay_%'
order by KEY_TABLE
