-- What is noted of a customer as a text without a length, which engines may keep outside of its row.
alter table customer add column c_note text;
update customer set c_note = c_data;
alter table customer drop column c_data;
alter table customer rename column c_note to c_data;
