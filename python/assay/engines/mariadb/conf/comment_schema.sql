alter database {name} comment {mark}
