select sys_stat ('st_dbms_ver')
