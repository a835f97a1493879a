set global $setting = default;
