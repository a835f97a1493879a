-- Almost all bills are paid and leave; their rows stay where they are until somebody cleans up.
delete from bills where id % 100 <> 0;
