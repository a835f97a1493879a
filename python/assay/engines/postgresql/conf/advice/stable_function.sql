alter function $existing stable;
