//! Small programs to name the functions of, made by the tools that linking a Rust program needs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};
use tempfile::TempDir;

const SOURCE: &str = include_str!("sample.c");
const CLASSES: &str = include_str!("classes.c");

/// A directory with one program, compiled, and the copies that a test makes of it.
pub struct Workshop {
    dir: TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Self::with(&["-g", "-Wl,--build-id=sha1"])
    }

    pub fn with(options: &[&str]) -> Self {
        Self::compile(SOURCE, options)
    }

    /// With classes as a C++ compiler lays them out, which not every machine has.
    pub fn with_classes(options: &[&str]) -> Self {
        Self::compile(CLASSES, &[&["-nostdlib"], options].concat())
    }

    fn compile(text: &str, options: &[&str]) -> Self {
        let workshop = Self { dir: TempDir::new().unwrap() };
        let source = workshop.path("sample.c");
        fs::write(&source, text).unwrap();
        let fixed = ["-O1", "-fno-inline", "-fplt", "-Wl,-z,lazy", "-o"].map(OsStr::new);
        let options = options.iter().map(OsStr::new);
        let program = workshop.program();
        let arguments = fixed.into_iter().chain([program.as_os_str(), source.as_os_str()]);
        run("cc", arguments.chain(options));
        workshop
    }

    pub fn program(&self) -> PathBuf {
        self.path("sample")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program without anything that naming could use but what its loader needs.
    pub fn stripped(&self) -> PathBuf {
        let stripped = self.path("stripped");
        self.objcopy(&["--strip-all"], "sample", "stripped");
        stripped
    }

    pub fn objcopy(&self, options: &[&str], from: &str, to: &str) {
        let options = options.iter().map(OsStr::new);
        let (from, to) = (self.path(from), self.path(to));
        run("objcopy", options.chain([from.as_os_str(), to.as_os_str()]));
    }
}

fn run<'a>(program: &str, arguments: impl Iterator<Item = &'a OsStr>) {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Address and size of the symbol `name`, by its own reading of the table.
pub fn symbol(path: &Path, name: &str) -> (u64, u64) {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.unwrap_or_else(|| panic!("{name} is in the program"));
    (symbol.address(), symbol.size())
}

/// First addresses and sizes of all functions of the program's own symbol table that have a size.
pub fn functions(path: &Path) -> Vec<(u64, u64)> {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbols = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
    let symbols = symbols.filter(|symbol| symbol.size() > 0 && symbol.section_index().is_some());
    symbols.map(|symbol| (symbol.address(), symbol.size())).collect()
}

/// Every `step`th address of a section.
pub fn addresses(path: &Path, section: &str, step: usize) -> Vec<u64> {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let Some(section) = file.section_by_name(section) else { return Vec::new() };
    (section.address()..section.address() + section.size()).step_by(step).collect()
}
