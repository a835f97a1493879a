//! Fixtures, and reading the streams that a test made.

#![allow(dead_code, reason = "every test file takes what it needs")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use assay_observe::{ProbeKind, ProcRoot, SamplerConfig, SysRoot};

/// The fixture folder standing for `/proc`.
pub fn proc_fixture() -> ProcRoot {
    ProcRoot(fixtures().join("proc"))
}

/// The fixture folder standing for `/sys`.
pub fn sys_fixture() -> SysRoot {
    SysRoot(fixtures().join("sys"))
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A sampler over the fixtures.
pub fn fixture_config(kind: ProbeKind, raw_dir: &Path) -> SamplerConfig {
    SamplerConfig {
        kind,
        raw_dir: raw_dir.to_owned(),
        interval: Duration::from_millis(5),
        core_share_max: None,
        proc_root: proc_fixture(),
        sys_root: sys_fixture(),
        followed: Vec::new(),
    }
}

/// A sampler over this host.
pub fn host_config(kind: ProbeKind, raw_dir: &Path) -> SamplerConfig {
    SamplerConfig {
        proc_root: ProcRoot::default(),
        sys_root: SysRoot::default(),
        ..fixture_config(kind, raw_dir)
    }
}

/// All whole batches of a stream; a torn tail ends them.
pub fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    StreamReader::try_new(file, None).unwrap().map_while(Result::ok).collect()
}

/// A column of numbers, whatever their width; null is `None`.
pub fn numbers(path: &Path, name: &str) -> Vec<Option<u64>> {
    batches(path).iter().flat_map(|batch| numbers_of(batch, name)).collect()
}

fn numbers_of(batch: &RecordBatch, name: &str) -> Vec<Option<u64>> {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let value = |row| match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).cast_unsigned(),
        DataType::UInt32 => u64::from(column.as_primitive::<UInt32Type>().value(row)),
        _ => column.as_primitive::<UInt64Type>().value(row),
    };
    (0..batch.num_rows()).map(|row| column.is_valid(row).then(|| value(row))).collect()
}

/// A column of text; null is `None`.
pub fn texts(path: &Path, name: &str) -> Vec<Option<String>> {
    batches(path).iter().flat_map(|batch| texts_of(batch, name)).collect()
}

fn texts_of(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    let value = |row| {
        let Some(dictionary) = column.as_dictionary_opt::<UInt16Type>() else {
            return column.as_string::<i32>().value(row).to_owned();
        };
        let key = usize::from(dictionary.keys().value(row));
        dictionary.values().as_string::<i32>().value(key).to_owned()
    };
    (0..batch.num_rows()).map(|row| column.is_valid(row).then(|| value(row))).collect()
}
