begin;
set local work_mem = '64kB';
