-- why: MariaDB has no generate_series: a table named seq_1_to_N has the numbers to N.
-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

insert into entries (id, k, c, pad)
select
  seq,
  seq * 7919 % ${entries} + 1,
  substr(repeat(md5(seq), 4), 1, 120),
  substr(repeat(md5(-cast(seq as signed)), 2), 1, 60)
from seq_1_to_${entries};
