-- Pages of the buffer pool by index of this database's tables; the primary key holds the rows.
select concat_ws(
         ' ',
         replace(substring_index(table_name, '.', -1), '`', ''),
         nullif(nullif(index_name, 'PRIMARY'), 'GEN_CLUST_INDEX')
       ),
       count(*) * @@innodb_page_size
from information_schema.innodb_buffer_page
where table_name like concat('`', database(), '`.%')
group by table_name, index_name
order by 2 desc, 1
