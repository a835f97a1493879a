alter table branches add constraint branches_key primary key (branch);
alter table tellers add constraint tellers_key primary key (teller);
alter table accounts add constraint accounts_key primary key (account);
