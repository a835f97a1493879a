//! Where a process has which code. Processes that were forked share one space until one of them
//! maps something of its own.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use assay_kernel::ProcRoot;
use assay_kernel::parse::Mapping;
use framehop::{MayAllocateDuringUnwind, Unwinder, UnwinderNative};

use crate::modules::{ModuleId, Modules};
use crate::symbols::SampledProcess;

/// The unwinder of one space.
pub type SpaceUnwinder = UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>;

#[derive(Clone, Debug)]
struct Code {
    end: u64,
    module: ModuleId,
    /// What to subtract from an address to have the file's; 0 where no file gives one.
    bias: u64,
}

/// The code of a process.
#[derive(Clone, Default)]
pub struct Space {
    code: BTreeMap<u64, Code>,
    unwinder: SpaceUnwinder,
}

/// A space that several processes may share.
pub type SharedSpace = Rc<Space>;

impl Space {
    /// Adds what was mapped; what lay there before is gone.
    pub fn map(
        &mut self,
        process: &SampledProcess,
        mapping: &Mapping,
        modules: &mut Modules,
        proc_root: &ProcRoot,
    ) {
        let Some(end) = mapping.start.checked_add(mapping.length) else { return };
        let module = modules.of_file(process, &mapping.path, mapping.inode, proc_root);
        if self.holds(mapping.start, end, module) {
            return;
        }
        self.unmap(mapping.start, end);
        let elf = modules.get(module).elf.clone();
        let address = elf.as_ref().and_then(|elf| elf.address_of(mapping.offset, mapping.length));
        let bias = address.map_or(0, |address| mapping.start.wrapping_sub(address));
        self.code.insert(mapping.start, Code { end, module, bias });
        if let (Some(elf), Some(_)) = (elf, address) {
            let name = mapping.path.clone();
            let unwound = framehop::Module::new(name, mapping.start..end, bias, &*elf);
            self.unwinder.add_module(unwound);
        }
    }

    /// Whether just this was mapped before: scanning and the kernel's records tell some twice.
    fn holds(&self, start: u64, end: u64, module: ModuleId) -> bool {
        self.code.get(&start).is_some_and(|code| code.end == end && code.module == module)
    }

    fn unmap(&mut self, start: u64, end: u64) {
        let overlapping = self.code.range(..end).filter(|(_, code)| code.end > start);
        let gone: Vec<u64> = overlapping.map(|(start, _)| *start).collect();
        for start in gone {
            self.code.remove(&start);
            self.unwinder.remove_module(start);
        }
    }

    /// Which module an address is in, and the address that the module gives it.
    pub fn place(&self, address: u64) -> Option<(ModuleId, u64)> {
        let (_, code) = self.code.range(..=address).next_back()?;
        (address < code.end).then(|| (code.module, address.wrapping_sub(code.bias)))
    }

    /// What knows how to unwind here.
    pub fn unwinder(&self) -> &SpaceUnwinder {
        &self.unwinder
    }
}
