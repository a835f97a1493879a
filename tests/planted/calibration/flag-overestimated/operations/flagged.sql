-- What was flagged?
select count(*), sum(l.volume) from trades t join legs l on l.trade_no = t.trade_no where t.flags & 64 = 64
