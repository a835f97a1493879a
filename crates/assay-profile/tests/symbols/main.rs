//! Names of functions: of real files, and of bytes that are none.

mod classes;
mod files;
mod properties;
mod workshop;
