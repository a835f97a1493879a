select sys_stat (?)
