//! Names for all frames of a profile, when sampling has ended.

use std::path::Path;

use crate::modules::{KERNEL, ModuleId, Modules, UNWINDING, VDSO};
use crate::rows::Rows;
use crate::symbols::{ModuleKind, Symbol, SymbolRoots, resolve};
use crate::tree::{CallTree, FrameId};
use crate::unwind::End;

/// A file with fewer nameless places, of all places of the profile, is not worth a sentence.
const UNTOLD_SHARE_MAX: f64 = 0.01;

/// Writes the function of each frame; returns why some have none, a sentence each.
pub fn name_all(modules: &Modules, tree: &CallTree, rows: &mut Rows) -> Vec<String> {
    let roots = SymbolRoots::default();
    let mut notes = Vec::new();
    let mut by_module: Vec<Vec<(FrameId, u64)>> = vec![Vec::new(); modules.all().len()];
    for (frame, (module, address)) in tree.frames().iter().enumerate() {
        match module {
            Some(module) => by_module[*module as usize].push((frame as FrameId, *address)),
            None => rows.symbol(frame as FrameId, &Symbol::NONE),
        }
    }
    for (module, frames) in by_module.into_iter().enumerate() {
        if modules.get(module as ModuleId).path == UNWINDING {
            for (frame, address) in frames {
                rows.pseudo_symbol(frame, End::name(address));
            }
            continue;
        }
        let addresses: Vec<u64> = frames.iter().map(|(_, address)| *address).collect();
        if addresses.is_empty() {
            continue;
        }
        let resolved = resolve(&kind(modules, module as ModuleId), &addresses, &roots);
        for ((frame, _), symbol) in frames.into_iter().zip(&resolved.symbols) {
            rows.symbol(frame, symbol);
        }
        let unnamed = resolved.symbols.iter().filter(|symbol| symbol.name.is_none()).count();
        if unnamed as f64 > UNTOLD_SHARE_MAX * tree.frames().len() as f64 {
            notes.extend(resolved.notes);
        }
    }
    notes
}

fn kind(modules: &Modules, module: ModuleId) -> ModuleKind<'_> {
    let module = modules.get(module);
    match (module.path.as_str(), module.process) {
        (KERNEL, _) => ModuleKind::Kernel,
        (VDSO, _) => ModuleKind::Vdso,
        (path, Some(process)) if path.starts_with('[') => ModuleKind::Jit { process },
        (path, process) => {
            let build_id = module.elf.as_ref().and_then(|elf| elf.build_id());
            ModuleKind::File { path: Path::new(path), build_id, process }
        }
    }
}
