select schema_name from information_schema.schemata where schema_name = {name_text}
