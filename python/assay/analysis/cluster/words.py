"""Shared names for counters of cluster nodes, to which each engine maps its own counters."""

from __future__ import annotations

MESSAGES, BYTES, ROWS = "messages", "bytes", "rows"
LOCAL_MESSAGES, LOCAL_BYTES = "local_messages", "local_bytes"
WAIT, BLOCKED, SCHEDULING = "wait_ns", "blocked_ns", "scheduling_ns"
TASKS, TASK, CPU, COLLECTING = "tasks", "task_ns", "cpu_ns", "collecting_ns"
READ_BYTES, READ_ROWS, SPILLED_BYTES, MEMORY = (
    "read_bytes",
    "read_rows",
    "spilled_bytes",
    "memory_bytes",
)
# Each counter's name, meaning and unit. All are cumulative except the gauge `memory_bytes`.
WORDS: dict[str, tuple[str, str]] = {
    MESSAGES: ("messages that it got from other nodes", "messages"),
    BYTES: ("bytes of them", "bytes"),
    ROWS: ("rows in them", "rows"),
    LOCAL_MESSAGES: ("messages handed over within it", "messages"),
    LOCAL_BYTES: ("bytes of them", "bytes"),
    WAIT: ("time its tasks waited for what other nodes send", "ns"),
    BLOCKED: ("time its tasks could not write, because the receiver had not taken it", "ns"),
    SCHEDULING: ("time that deciding who works on what took, and waiting for it", "ns"),
    TASKS: ("pieces of work that were scheduled", "tasks"),
    TASK: ("time of its tasks, by the clock, summed", "ns"),
    CPU: ("CPU time", "ns"),
    COLLECTING: ("time of collecting garbage", "ns"),
    READ_BYTES: ("bytes read of the data", "bytes"),
    READ_ROWS: ("rows read of the data", "rows"),
    SPILLED_BYTES: ("bytes written aside for want of memory", "bytes"),
    MEMORY: ("memory that it uses", "bytes"),
}
