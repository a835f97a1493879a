vacuum (freeze, analyze, disable_page_skipping, index_cleanup on) archive_b;
reindex table archive_b;
