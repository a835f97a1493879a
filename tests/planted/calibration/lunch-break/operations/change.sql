-- One task goes on.
update tasks set state = state + 1 where task = ${task}
