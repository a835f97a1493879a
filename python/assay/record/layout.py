"""Names and version of a run directory's parts, in one place for writer and reader."""

SCHEMA_VERSION = 1

RUN_FILE = "run.json"
ENVIRONMENT_FILE = "environment.json"
SEAL_FILE = "SEAL"
RAW_DIR = "raw"
RESULTS_DIR = "results"
EXPECTED_DIR = "expected"
EXPECTED_ORIGIN_FILE = "origin.json"
DERIVED_DIR = "derived"
LOG_FILE = "assay.log"
DRIVER_FILE = "driver.json"
SAMPLING_FILE = "profile.json"
PLANS_DIR = "plans"
PLANS_FILE = "plans.json"

# Phases of a plan and accounts of processes, as streams name them.
PHASE_WARMUP = "warmup"
PHASE_MEASURED = "measured"
PHASE_AFTER = "after"
ACCOUNT_ENGINE_AND_DRIVER = "engine and driver"
ACCOUNT_ENGINE = "engine"
ACCOUNT_DRIVER = "driver"
ACCOUNT_PROBES = "probes"
ENGINE_ACCOUNTS = (ACCOUNT_ENGINE, ACCOUNT_ENGINE_AND_DRIVER)

STATUS_RUNNING = "running"
STATUS_COMPLETE = "complete"
STATUS_FAILED = "failed"
STATUS_INTERRUPTED = "interrupted"
