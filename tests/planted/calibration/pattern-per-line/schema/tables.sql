create table lift_messages as
select id, id % 300 as lift, (case id % 9 when 0 then 'FAULT' when 1 then 'WARN' else 'INFO' end) || ' door ' || (id % 40) || ' of shaft ' || md5(id::varchar) as line
from range(1, ${lift_messages} + 1) as made (id);
