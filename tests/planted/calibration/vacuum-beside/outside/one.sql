vacuum (freeze, analyze, disable_page_skipping, index_cleanup on) archive_a;
reindex table archive_a;
