create statistics trades_flags_mask on (flags & 64) from trades;
analyze trades;
