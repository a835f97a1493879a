-- What was claimed?
select count(*), sum(cents) from claims where policy_no = ${policy}
