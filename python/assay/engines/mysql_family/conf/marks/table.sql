select table_name from information_schema.tables where table_schema = {name_text} and table_name = 'assay_mark'
