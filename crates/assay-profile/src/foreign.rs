//! Parsers of bytes from the kernel and from programs that are profiled, each behind one function. The
//! profile itself does not call these: they are for tests that give the parsers any bytes.

use assay_kernel::ProcRoot;
use assay_kernel::parse::Mapping;

use crate::elf::Elf;
use crate::frame_pointers::has_frame_pointers;
use crate::modules::Modules;
use crate::perf::{Record, Regs, Sample, parse_record};
use crate::requests::{Format, parse_request};
use crate::space::Space;
use crate::symbols::SampledProcess;
use crate::unwind::Stacks;

/// Where the code of an object file is mapped.
const MAPPED_AT: u64 = 0x5555_0000_0000;
/// Bytes of a stack that are copied.
const STACK_BYTES: usize = 512;
const PATH: &str = "/code";
const INODE: u64 = 1;

/// Reads a record of a ring of samples. `copies`: whether registers and stack were asked for.
pub fn read_sample_record(bytes: &[u8], copies: bool) {
    if let Record::Sample(sample) = parse_record(bytes, copies) {
        let mut modules = Modules::default();
        let mut stacks = Stacks::new(&mut modules, copies.then_some(STACK_BYTES));
        let (places, _) = stacks.of(&sample, &Space::default());
        assert!(places.count() > 0);
    }
}

/// Reads a record of a ring of requests, by a text that says where its fields are; both may be wrong.
pub fn read_request_record(format: &str, bytes: &[u8]) {
    if let Some(format) = Format::parse(format) {
        parse_request(bytes, &format);
    }
}

/// Reads an object file as unwinding does, and unwinds a stack whose frames lie in its code.
pub fn unwind(file: &[u8], stack: &[u8]) {
    let Some(elf) = Elf::parse(file) else { return };
    let _ = (elf.build_id().map(str::len), has_frame_pointers(&elf));
    let length = (file.len() as u64).next_multiple_of(4096);
    let mut modules = Modules::default();
    let process = SampledProcess::ended(1);
    modules.add((PATH.into(), INODE), Some(process), Some(elf));
    let mapping = Mapping { start: MAPPED_AT, length, offset: 0, inode: INODE, path: PATH.into() };
    let mut space = Space::default();
    space.map(&process, &mapping, &mut modules, &ProcRoot::default());
    let mut stacks = Stacks::new(&mut modules, Some(STACK_BYTES));
    for words in stack.chunks_exact(16).take(8) {
        let word = |at: usize| {
            words[at..at + 8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let ip = MAPPED_AT + word(0) % length;
        let sp = word(8) & 0x7fff_ffff_fff8;
        let regs = Some(Regs { ip, sp, fp: sp.wrapping_add(word(0) & 0xf8), lr: ip });
        let (pid, tid, time_ns, cpu) = (1, 1, 0, 0);
        let sample = Sample { pid, tid, time_ns, cpu, ip, chain: &[], regs, stack };
        let (places, _) = stacks.of(&sample, &space);
        assert!(places.count() > 0);
    }
}
