comment on schema {name} is {mark}
