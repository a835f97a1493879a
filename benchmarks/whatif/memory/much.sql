begin;
set local work_mem = '256MB';
