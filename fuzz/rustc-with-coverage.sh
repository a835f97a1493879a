#!/bin/sh
# Compiles a crate of the workspace with counters of its edges and reports of its comparisons, as
# libFuzzer reads them. All flags are of the stable toolchain. For RUSTC_WORKSPACE_WRAPPER.
exec "$@" \
  -Cpasses=sancov-module \
  -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
  -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares
