update tasks set state = state + 100 where task between 1 and 150;
