select count(*) from queue;
