set persist $setting = $value;
