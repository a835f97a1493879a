select count(*) from phones where sha2(concat(md5(owner), contract), 512) like 'ab%';
