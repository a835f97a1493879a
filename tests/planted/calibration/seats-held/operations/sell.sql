-- One ticket.
insert into sold (show_no, number, price) values (${show}, ${number}, 30)
