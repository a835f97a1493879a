select count(*) from phones where sha2(concat(sha2(owner, 384), contract), 512) like 'ab%';
