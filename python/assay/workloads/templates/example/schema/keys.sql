create unique index towns_key on towns (town);
