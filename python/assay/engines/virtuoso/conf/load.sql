create procedure {name} (in file varchar)
{
  declare held, rows any;
  declare {vectors} any;
  set non_txn_insert = 1;
  log_enable (2, 1);
  held := file_open (file);
  while (1)
  {
    rows := read_object (held);
    if (not isvector (rows))
      return;
    {taken}
    for vectored modify ({rows})
    {
      insert into {table} ({columns}) values ({values});
    }
  }
}
