create table {name}.assay_mark (id integer primary key, mark text not null)
