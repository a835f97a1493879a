alter table towns add constraint towns_key primary key (town);
