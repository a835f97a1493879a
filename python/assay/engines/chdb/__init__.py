"""chDB: ClickHouse as a library, embedded in the driver's host process."""
