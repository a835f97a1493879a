//! SQLite itself: the one that the Python package `apsw` has in it. Two copies in a process would
//! undo each other's locks of a file, because the kernel drops all of a process's locks when any
//! descriptor of the file is closed. So SQLite is asked to load us as it loads extensions, and hands
//! over its functions.
#![allow(unsafe_code)] // SQLite's interface of extensions, and a figure that no safe door tells.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::{Connection, ffi};

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Called by SQLite, for a connection that was told to load this library.
///
/// # Safety
/// The arguments are those that SQLite gives an extension's entry point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_assay_init(
    db: *mut ffi::sqlite3,
    error_message: *mut *mut c_char,
    api: *mut ffi::sqlite3_api_routines,
) -> c_int {
    let stays = |_| {
        IS_THERE.store(true, Ordering::Release);
        Ok(true)
    };
    // SAFETY: the pointers are passed on as they came.
    unsafe { Connection::extension_init2(db, error_message, api, stays) }
}

/// Whether SQLite has handed over its functions.
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Acquire)
}

/// What a connection has counted of `what`, a `SQLITE_DBSTATUS_...`: 31 bits, which wrap.
pub fn counted(connection: &Connection, what: c_int) -> u32 {
    let (mut now, mut highest) = (0, 0);
    // SAFETY: the connection is open, and SQLite writes both figures before it returns.
    unsafe { ffi::sqlite3_db_status(connection.handle(), what, &raw mut now, &raw mut highest, 0) };
    now as u32
}
