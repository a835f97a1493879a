//! Files with code, each once, with a number.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use assay_kernel::ProcRoot;

use crate::elf::Elf;
use crate::symbols::SampledProcess;
use crate::vdso::bytes;

/// The kernel's own code.
pub const KERNEL: &str = "[kernel]";
/// Where the names of stacks that could not be unwound to their end are.
pub const UNWINDING: &str = "[unwinding]";
/// The code that the kernel maps into every process.
pub const VDSO: &str = "[vdso]";

/// Number of a module.
pub type ModuleId = u32;

/// One file with code, or what stands for one.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path, or a name in brackets.
    pub path: String,
    /// A process that has it mapped; none for the kernel.
    pub process: Option<SampledProcess>,
    /// What could be read of it.
    pub elf: Option<Rc<Elf>>,
}

/// All modules that were met.
#[derive(Debug, Default)]
pub struct Modules {
    all: Vec<Module>,
    by_file: HashMap<(String, u64), ModuleId>,
}

impl Modules {
    /// The module that a mapping of a process is of.
    pub fn of_file(
        &mut self,
        process: &SampledProcess,
        path: &str,
        inode: u64,
        proc_root: &ProcRoot,
    ) -> ModuleId {
        let key = match path {
            VDSO => (VDSO.to_owned(), 0),
            _ if path.starts_with('/') && !path.starts_with("//anon") => (path.to_owned(), inode),
            // A later process with the same number has other code.
            _ => (format!("[jit {}]", process.pid), process.started_ns.unwrap_or_default()),
        };
        if let Some(module) = self.by_file.get(&key) {
            return *module;
        }
        let elf = match key.0.as_str() {
            VDSO => bytes(Path::new("/proc/self")).ok().as_deref().and_then(Elf::parse),
            name if name.starts_with('/') => read(name, process, proc_root),
            _ => None,
        };
        self.add(key, Some(*process), elf)
    }

    /// The module of a name in brackets.
    pub fn named(&mut self, name: &str) -> ModuleId {
        let key = (name.to_owned(), 0);
        match self.by_file.get(&key) {
            Some(module) => *module,
            None => self.add(key, None, None),
        }
    }

    /// A module by its number.
    pub fn get(&self, module: ModuleId) -> &Module {
        &self.all[module as usize]
    }

    /// All of them; the place is the number.
    pub fn all(&self) -> &[Module] {
        &self.all
    }

    /// Adds a module under its path and the number of its file.
    pub fn add(
        &mut self,
        key: (String, u64),
        process: Option<SampledProcess>,
        elf: Option<Elf>,
    ) -> ModuleId {
        let module = self.all.len() as ModuleId;
        self.all.push(Module { path: key.0.clone(), process, elf: elf.map(Rc::new) });
        self.by_file.insert(key, module);
        module
    }
}

/// As the process sees it, else as we do. A program that was replaced while it runs is still to be
/// had through the process.
fn read(path: &str, process: &SampledProcess, proc_root: &ProcRoot) -> Option<Elf> {
    let folder = process.folder(&proc_root.0);
    let inside = || Elf::read(&folder.as_ref()?.join("root").join(path.trim_start_matches('/')));
    let replaced = || {
        let program = folder.as_ref()?.join("exe");
        let is_it = std::fs::read_link(&program).is_ok_and(|target| target == Path::new(path));
        if is_it { Elf::read(&program) } else { None }
    };
    inside().or_else(|| Elf::read(Path::new(path))).or_else(replaced)
}
