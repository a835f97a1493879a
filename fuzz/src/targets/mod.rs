//! The parsers, in files by where their input comes from.

mod bridge;
mod code;
mod columns;
mod http;
mod mysql;
mod postgres;
mod procfs;
mod script;
mod sparql;
mod texts;
mod tls;

use crate::Target;

const DRIVE: &str = "assay-drive";
const PROFILE: &str = "assay-profile";
const MIB: usize = 1 << 20;

const fn parser(
    crate_name: &'static str,
    name: &'static str,
    read: fn(&[u8]),
    bytes_max: usize,
) -> Target {
    let memory_bytes_max = 4 * MIB;
    Target { name, read, bytes_max, memory_bytes_max, crate_name, is_session: false }
}

/// A session keeps the rows of its answers: digits of a number that PostgreSQL sends in eight bytes
/// take up to 200 kB.
const fn session(name: &'static str, read: fn(&[u8])) -> Target {
    let (bytes_max, memory_bytes_max) = (4 << 10, 128 * MIB);
    Target { name, read, bytes_max, memory_bytes_max, crate_name: DRIVE, is_session: true }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    parser("assay-kernel", "procfs", procfs::read, 4 << 10),
    parser(PROFILE, "perf_records", code::perf_records, 2 << 10),
    parser(PROFILE, "request_records", code::request_records, 2 << 10),
    parser(PROFILE, "unwind_tables", code::unwind_tables, 16 << 10),
    parser(PROFILE, "object_files", code::object_files, 16 << 10),
    parser(PROFILE, "debug_files", code::debug_files, 16 << 10),
    // A name of nested templates takes some megabytes while it is read.
    Target {
        memory_bytes_max: 64 * MIB,
        ..parser(PROFILE, "function_names", code::function_names, 4 << 10)
    },
    parser(PROFILE, "go_tables", code::go_tables, 4 << 10),
    parser(DRIVE, "postgres_dsn", postgres::dsn, 1 << 10),
    parser(DRIVE, "postgres_values", postgres::values, 1 << 10),
    parser(DRIVE, "postgres_messages", postgres::messages, 4 << 10),
    session("postgres_startup", postgres::startup),
    session("postgres_session", postgres::session),
    parser(DRIVE, "mysql_values", mysql::values, 1 << 10),
    parser(DRIVE, "mysql_packets", mysql::packets, 4 << 10),
    session("mysql_startup", mysql::startup),
    session("mysql_session", mysql::session),
    parser(DRIVE, "bridge_values", bridge::values, 1 << 10),
    session("bridge_session", bridge::session),
    parser(DRIVE, "http_response", http::response, 4 << 10),
    parser(DRIVE, "sparql_json", sparql::json, 4 << 10),
    parser(DRIVE, "sparql_lines", sparql::lines, 4 << 10),
    session("sparql_session", sparql::session),
    parser(DRIVE, "statements", texts::statements, 1 << 10),
    parser(DRIVE, "certificates", tls::certificates, 4 << 10),
    Target { is_session: true, ..parser(DRIVE, "tls_handshake", tls::handshake, 16 << 10) },
];
