select count(*) from ledgers a, generate_series(1, 10) as month (n) where md5(a.owner || month.n) like 'ab%';
