-- What was saved?
select cents, branch from savers where saver = ${saver}
