set session explain_json_format_version = 2
