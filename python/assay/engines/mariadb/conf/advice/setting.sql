set global $setting = $value;
