create table stamp_letters as
select id, md5((id % 450001)::varchar) as sender, (id * 31) % 9973 as postmark
from range(1, ${stamp_letters} + 1) as made (id);
