-- One more.
update belts set bottles = bottles + 1 where belt = ${belt}
