//! The separate file with the symbols of a stripped one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::{File, Object};

use super::image::{Image, build_id_of};

/// The debug file of the ELF file at `path`, by its build id or by the link in it; none where there
/// is none that belongs to it.
pub(super) fn find(path: &Path, elf: &[u8], debug_dirs: &[PathBuf]) -> Option<Image> {
    let file = File::parse(elf).ok()?;
    let id = build_id_of(elf);
    id.as_deref()
        .and_then(|id| by_build_id(id, debug_dirs))
        .or_else(|| by_link(path, &file, id.as_deref(), debug_dirs))
}

fn by_build_id(id: &str, debug_dirs: &[PathBuf]) -> Option<Image> {
    let (first, rest) = id.split_at_checked(2)?;
    debug_dirs
        .iter()
        .map(|dir| dir.join(".build-id").join(first).join(format!("{rest}.debug")))
        .filter_map(|place| Image::open(&place).ok())
        .find(|image| build_id_of(image).as_deref() == Some(id))
}

/// Beside the file, in `.debug` beside it, or below a debug directory under the path of the file.
fn by_link(path: &Path, file: &File, id: Option<&str>, debug_dirs: &[PathBuf]) -> Option<Image> {
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = Path::new(OsStr::from_bytes(name)).file_name()?;
    let dir = path.parent()?;
    let inside = dir.strip_prefix("/").unwrap_or(dir);
    let below = debug_dirs.iter().map(|debug_dir| debug_dir.join(inside).join(name));
    [dir.join(name), dir.join(".debug").join(name)]
        .into_iter()
        .chain(below)
        .filter(|place| place != path)
        .filter_map(|place| Image::open(&place).ok())
        .find(|image| belongs(image, id, checksum))
}

fn belongs(debug: &[u8], id: Option<&str>, checksum: u32) -> bool {
    match (id, build_id_of(debug)) {
        (Some(id), Some(debug_id)) => id == debug_id,
        _ => crc32fast::hash(debug) == checksum,
    }
}
