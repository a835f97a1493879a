-- A new text.
update memos set version = ${number}, body = repeat(char(65 + ${number} % 26), 400) where memo = ${memo}
