reset persist $setting;
set global $setting = default;
