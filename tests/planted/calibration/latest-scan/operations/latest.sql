-- The last message of each host in a rack.
select h.title, (select max(m.message_no) from messages m where m.host_no = h.host_no) as latest
from hosts h where h.rack = 7
