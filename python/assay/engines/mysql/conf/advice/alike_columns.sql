set foreign_key_checks = 0;
set @assay_change = (
  select concat('alter table $table modify $column ',
                if(other.character_set_name is null, other.column_type,
                   concat(if(own.character_set_name is null, other.column_type, own.column_type),
                          ' character set ', other.character_set_name,
                          ' collate ', other.collation_name)),
                if(own.is_nullable = 'NO', ' not null', ''))
  from information_schema.columns as own
  join information_schema.columns as other on other.table_schema = own.table_schema
  where own.table_schema = database() and own.table_name = $table_text
    and own.column_name = $column_text
    and other.table_name = $like_table_text and other.column_name = $like_column_text);
prepare assay_change from @assay_change;
execute assay_change;
deallocate prepare assay_change;
analyze table $table;
set foreign_key_checks = 1;
