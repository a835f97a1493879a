-- Where does this employee sit?
select id, room from employees where badge = cast(${badge} as char) collate utf8mb4_bin
