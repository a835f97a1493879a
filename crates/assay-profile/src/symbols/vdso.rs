//! Names in the file that the kernel maps into every process; ours has the same.

use std::path::Path;

use super::{Resolved, resolve_elf};
use crate::vdso::bytes;

pub(super) fn resolve(addresses: &[u64], proc_root: &Path) -> Resolved {
    match bytes(&proc_root.join("self")) {
        Ok(elf) => Resolved { symbols: resolve_elf(&elf, None, addresses), notes: Vec::new() },
        Err(error) => {
            let note =
                format!("Functions of the [vdso] have no names: it cannot be read: {error}.");
            Resolved::nothing(addresses, note)
        }
    }
}
