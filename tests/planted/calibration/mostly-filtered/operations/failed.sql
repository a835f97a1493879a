-- What was not sent?
select count(*), sum(bytes) from transmissions where tenant = ${tenant} and outcome = 'failed'
