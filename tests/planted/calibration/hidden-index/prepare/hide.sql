alter table lots alter index lots_auction invisible;
