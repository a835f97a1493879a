-- One plan for all values, whatever they are.
set local plan_cache_mode = force_generic_plan
