rollback to savepoint assay_plan
