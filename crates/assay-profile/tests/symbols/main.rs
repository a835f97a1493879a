//! Names of functions: of real files, and of bytes that are none.

mod files;
mod properties;
mod workshop;
