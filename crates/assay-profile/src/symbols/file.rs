//! Names in a file that was mapped, if it is still the one that was.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::File;

use super::image::{Image, build_id_of};
use super::{
    Resolved, SampledProcess, Symbol, SymbolKind, SymbolRoots, debug_file, elf, resolve_elf,
};

const DELETED: &[u8] = b" (deleted)";

/// A file as it was mapped.
pub(super) struct Mapped<'a> {
    pub path: &'a Path,
    pub build_id: Option<&'a str>,
    pub process: Option<SampledProcess>,
}

pub(super) fn resolve(mapped: &Mapped, addresses: &[u64], roots: &SymbolRoots) -> Resolved {
    let nothing = |reason: &str| {
        let note = format!("Functions of {} have no names: {reason}.", mapped.path.display());
        Resolved::nothing(addresses, note)
    };
    let (path, image) = match mapped.find(&roots.proc_root) {
        Ok(path_and_image) => path_and_image,
        Err(reason) => return nothing(&reason),
    };
    let Ok(file) = File::parse(&*image) else { return nothing("it is not an ELF file") };
    let stripped = !elf::has_symbol_table(&file);
    let debug = stripped.then(|| debug_file::find(&path, &image, &roots.debug_dirs)).flatten();
    let symbols = resolve_elf(&image, debug.as_deref(), addresses);
    let mut resolved = Resolved { symbols, notes: Vec::new() };
    if stripped && debug.is_none() && resolved.unnamed() > 0 {
        resolved.notes.push(why_stripped(mapped.path, &resolved));
    }
    resolved
}

impl Mapped<'_> {
    /// The file and where it is, or why its names cannot be used.
    fn find(&self, proc_root: &Path) -> Result<(PathBuf, Image), String> {
        let as_mapped = self.path.as_os_str().as_bytes();
        let deleted = as_mapped.ends_with(DELETED);
        let path = OsStr::from_bytes(as_mapped.strip_suffix(DELETED).unwrap_or(as_mapped));
        let mut reason = "it was deleted".to_owned();
        for place in self.places(Path::new(path), proc_root) {
            match Image::open(&place) {
                Ok(image) if self.is_in(&image, deleted) => return Ok((place, image)),
                Ok(_) => {
                    return Err("it was replaced by another since it was mapped; restart the \
                                process that runs the old one, and measure again"
                        .to_owned());
                }
                Err(error) if !deleted => reason = format!("it cannot be read: {error}"),
                Err(_) => {}
            }
        }
        Err(reason)
    }

    fn places(&self, path: &Path, proc_root: &Path) -> Vec<PathBuf> {
        let folder = self.process.and_then(|process| process.folder(proc_root));
        let inside = folder.map(|folder| {
            let root = folder.join("root");
            root.join(path.strip_prefix("/").unwrap_or(path))
        });
        inside.into_iter().chain([path.to_owned()]).collect()
    }

    fn is_in(&self, image: &[u8], deleted: bool) -> bool {
        match self.build_id {
            Some(id) => build_id_of(image).is_some_and(|own_id| own_id.eq_ignore_ascii_case(id)),
            None => !deleted,
        }
    }
}

fn why_stripped(path: &Path, resolved: &Resolved) -> String {
    let count = resolved.symbols.len();
    let unnamed = resolved.unnamed();
    let has_bounds = |symbol: &&Symbol| symbol.kind == SymbolKind::Bounds;
    let bounds = resolved.symbols.iter().filter(has_bounds).count();
    format!(
        "{}: {unnamed} of {count} places have no name ({bounds} have the bounds of their function): \
         it has no symbol table and no debug file of it is installed. Packages of debug symbols \
         end in -dbgsym, -dbg or -debuginfo.",
        path.display()
    )
}
