-- A model that was entered by mistake goes.
begin immediate;
insert or ignore into models values (${model}, 'none');
delete from models where model = ${model};
commit;
