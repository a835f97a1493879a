-- Where does this employee sit?
select id, room from employees where badge = ${badge}
