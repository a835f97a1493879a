-- Another text.
update remarks set version = ${number}, body = repeat(char(97 + ${number} % 26), 500) where remark = ${remark}
