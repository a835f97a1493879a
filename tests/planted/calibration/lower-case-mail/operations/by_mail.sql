-- Who is this?
select id, branch from members where lower(mail) = lower('member.4711@example.ORG')
