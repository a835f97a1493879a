select schema_comment from information_schema.schemata where schema_name = {name_text}
