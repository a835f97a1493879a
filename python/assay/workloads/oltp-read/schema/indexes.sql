create index k_1 on sbtest1 (k);
