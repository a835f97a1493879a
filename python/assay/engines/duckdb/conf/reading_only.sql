-- A user's file is only read, and statements cannot make DuckDB write other files instead, such as by log_query_path or
-- profiling_output. These settings can still be changed: they name no file and allow nothing.
-- External access stays on, because a view of the user may read CSV or Parquet files. Statements that write by it (COPY,
-- EXPORT, ATTACH, INSTALL) are refused by their words before a run.
set allowed_configs = [
    'allocator_background_threads', 'allocator_bulk_deallocation_flush_threshold',
    'allocator_flush_threshold', 'approximate_join_order_threshold', 'arrow_large_buffer_size',
    'arrow_lossless_conversion', 'arrow_output_list_view', 'arrow_output_version',
    'asof_loop_join_threshold', 'async_threads', 'binary_as_string', 'cache_local_files', 'calendar',
    'catalog_error_max_schemas', 'current_transaction_invalidation_policy', 'default_collation',
    'default_null_order', 'default_order', 'default_transaction_invalidation_policy', 'delim_join_as_cte',
    'disable_parquet_prefetching', 'disable_timestamptz_casts', 'disabled_optimizers',
    'dynamic_or_filter_threshold', 'enable_external_file_cache', 'enable_fsst_vectors',
    'enable_geoparquet_conversion', 'enable_http_metadata_cache', 'enable_macro_dependencies',
    'enable_optimistic_write', 'enable_optimizer', 'enable_profiling', 'enable_progress_bar',
    'enable_progress_bar_print', 'enable_view_dependencies', 'error_on_division_by_zero', 'errors_as_json',
    'explain_output', 'external_file_cache_local_max_block_size',
    'external_file_cache_remote_max_block_size', 'external_file_cache_remote_min_block_size',
    'external_file_cache_request_sizing', 'external_threads', 'geometry_minimum_shredding_size',
    'ieee_floating_point_ops', 'ignore_unknown_crs', 'immediate_transaction_mode', 'index_scan_max_count',
    'index_scan_percentage', 'initial_column_segment_size', 'integer_division', 'json_geometry_format',
    'late_materialization_max_rows', 'legacy_disable_null_type', 'max_execution_time',
    'max_expression_depth', 'max_memory', 'max_streaming_buffer_size', 'max_temp_directory_size',
    'memory_limit', 'merge_join_threshold', 'nested_loop_join_threshold', 'null_order',
    'operator_memory_limit', 'order_by_non_integer_literal', 'ordered_aggregate_threshold',
    'pandas_analyze_sample', 'parquet_metadata_cache', 'parquet_prefetch_column_gap',
    'partitioned_write_flush_threshold', 'partitioned_write_max_open_files', 'perfect_ht_threshold',
    'pin_threads', 'pivot_filter_threshold', 'pivot_limit', 'prefer_range_joins',
    'prefetch_all_parquet_files', 'preserve_identifier_case', 'preserve_insertion_order',
    'profiling_coverage', 'profiling_renderer_settings', 'progress_bar_time', 'read_ahead_depth',
    'regex_match_operator_semantics', 'scalar_subquery_error_on_multiple_rows', 'scheduler_process_partial',
    'schema', 'search_path', 'show_behavior', 'storage_block_prefetch', 'streaming_buffer_size',
    'table_function_identifier_conversion', 'threads', 'timezone', 'tracked_metrics',
    'validate_external_file_cache', 'variant_minimum_shredding_size', 'warnings_as_errors',
    'worker_threads', 'zstd_min_string_length'
];
set lock_configuration = true;
