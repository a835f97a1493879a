-- One row; its values are bound.
insert into $table values ($places)
