//! Names of functions. A name is given only where a symbol says that it covers the address: the
//! nearest symbol of a stripped file is as a rule another function. Where none covers it, a virtual
//! function of C++ is named by its class and its slot in the class's table. Of all others the answer
//! is the bounds of the function, which unwind tables have for code without names too.

mod bounds;
mod debug_file;
mod demangle;
mod dwarf;
mod elf;
mod file;
mod go;
mod image;
mod jit;
mod kernel;
mod mini;
mod plt;
mod process;
mod table;
mod vdso;
mod vtable;
mod words;

use std::path::{Path, PathBuf};

pub use demangle::demangled;
pub use elf::resolve_elf;
pub use go::GoFunctions;
pub use image::build_id;
pub(crate) use image::hexadecimal;
pub use jit::resolve_perf_map;
pub use kernel::resolve_kallsyms;
pub use process::SampledProcess;

/// What code an address lies in.
#[derive(Clone, Copy, Debug)]
pub enum ModuleKind<'a> {
    /// An ELF file; addresses are as the file gives them.
    File {
        /// As mapped: may end in ` (deleted)`.
        path: &'a Path,
        /// In hexadecimal, of the file that was mapped. A file that has another gives no names.
        build_id: Option<&'a str>,
        /// A process that mapped it: the path is looked for below its root first, because it may be
        /// that of a container.
        process: Option<SampledProcess>,
    },
    /// The running kernel and its modules; addresses are absolute.
    Kernel,
    /// The file that the kernel maps into every process; addresses are as it gives them.
    Vdso,
    /// Code that a process generated; addresses are absolute.
    Jit {
        /// Whose.
        process: SampledProcess,
    },
}

/// Where a name, or its lack, is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// The file's own symbol table.
    Symbol,
    /// What the file exports or imports.
    Dynamic,
    /// A separate debug file, or debug information.
    Debug,
    /// The kernel's list.
    Kernel,
    /// The list that a process with generated code wrote.
    Jit,
    /// The table that Go's runtime itself uses.
    Go,
    /// The class and slot of a virtual function without a symbol: `Class::[virtual 2]`.
    Vtable,
    /// No name: bounds of the function by the unwind tables.
    Bounds,
    /// Neither name nor bounds.
    None,
}

impl SymbolKind {
    /// The word of the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::Dynamic => "dynamic",
            Self::Debug => "debug",
            Self::Kernel => "kernel",
            Self::Jit => "jit",
            Self::Go => "go",
            Self::Vtable => "vtable",
            Self::Bounds => "bounds",
            Self::None => "none",
        }
    }
}

/// The function that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Demangled; none where no symbol covers the address.
    pub name: Option<String>,
    /// Where name or bounds are from.
    pub kind: SymbolKind,
    /// First address of the function.
    pub start: Option<u64>,
    /// Length of the function.
    pub size_bytes: Option<u64>,
}

impl Symbol {
    /// Nothing is known of the address.
    pub const NONE: Self =
        Self { name: None, kind: SymbolKind::None, start: None, size_bytes: None };

    fn new(name: String, kind: SymbolKind, start: u64, end: u64) -> Self {
        let size_bytes = Some(end.saturating_sub(start));
        Self { name: Some(name), kind, start: Some(start), size_bytes }
    }

    fn bounds(function: bounds::Function) -> Self {
        Self {
            name: None,
            kind: SymbolKind::Bounds,
            start: Some(function.start),
            size_bytes: Some(function.end - function.start),
        }
    }
}

/// Places where names are looked for.
#[derive(Clone, Debug)]
pub struct SymbolRoots {
    /// Separate debug files: by build id below `.build-id`, by link below the path of the file.
    pub debug_dirs: Vec<PathBuf>,
    /// The kernel's `/proc`.
    pub proc_root: PathBuf,
    /// Where processes write `perf-PID.map`.
    pub jit_dirs: Vec<PathBuf>,
}

impl Default for SymbolRoots {
    fn default() -> Self {
        Self {
            debug_dirs: vec!["/usr/lib/debug".into()],
            proc_root: "/proc".into(),
            jit_dirs: vec!["/tmp".into()],
        }
    }
}

/// Symbols of addresses, in their order.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// One for each address that was asked for.
    pub symbols: Vec<Symbol>,
    /// Sentences: why something has no names, and what to do.
    pub notes: Vec<String>,
}

impl Resolved {
    fn nothing(addresses: &[u64], note: String) -> Self {
        Self { symbols: vec![Symbol::NONE; addresses.len()], notes: vec![note] }
    }

    fn unnamed(&self) -> usize {
        self.symbols.iter().filter(|symbol| symbol.name.is_none()).count()
    }
}

/// The functions that `addresses` of one module are in. Never fails: what has no name says why.
pub fn resolve(kind: &ModuleKind, addresses: &[u64], roots: &SymbolRoots) -> Resolved {
    match *kind {
        ModuleKind::File { path, build_id, process } => {
            file::resolve(&file::Mapped { path, build_id, process }, addresses, roots)
        }
        ModuleKind::Kernel => kernel::resolve(addresses, &roots.proc_root),
        ModuleKind::Vdso => vdso::resolve(addresses, &roots.proc_root),
        ModuleKind::Jit { process } => jit::resolve(&process, addresses, roots),
    }
}
