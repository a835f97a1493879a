//! The streams of a profile, written so that nothing names what is not on disk yet.

use std::path::Path;

use assay_model::{Cell, Table};
use assay_record::{COST_ABOUT, COST_COLUMNS, Stream};

use crate::ProfileError;
use crate::modules::Modules;
use crate::perf::Sample;
use crate::symbols::{Symbol, SymbolKind};
use crate::tables::{FRAMES, MODULES, PROFILE, SAMPLES, STACKS, SYMBOLS, THREADS};
use crate::tree::{CallTree, FrameId, StackId};
use crate::watch::Counts;

/// What the profile itself costs.
pub static PROBE_PROFILE: Table =
    Table { file: "probe-profile.arrows", about: COST_ABOUT, columns: COST_COLUMNS };

/// What sampling itself took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time of its thread.
    pub cpu_ns: u64,
    /// Longest time that it read rings without a pause.
    pub longest_ns: u64,
}

/// All streams, each with its one writer.
pub struct Rows {
    modules: Stream,
    frames: Stream,
    stacks: Stream,
    threads: Stream,
    samples: Stream,
    profile: Stream,
    symbols: Stream,
    cost: Stream,
    /// How many modules, frames and stacks are written.
    written: (usize, usize, usize),
}

impl Rows {
    /// Makes the files.
    pub fn create(raw_dir: &Path) -> Result<Self, ProfileError> {
        let create = |table| Stream::create(raw_dir, table);
        Ok(Self {
            modules: create(&MODULES)?,
            frames: create(&FRAMES)?,
            stacks: create(&STACKS)?,
            threads: create(&THREADS)?,
            samples: create(&SAMPLES)?,
            profile: create(&PROFILE)?,
            symbols: create(&SYMBOLS)?,
            cost: create(&PROBE_PROFILE)?,
            written: (0, 0, 0),
        })
    }

    /// A sample.
    pub fn sample(&mut self, sample: &Sample<'_>, stack: StackId) {
        self.samples.push(&[
            Cell::Int(sample.time_ns),
            Cell::Count(sample.pid.into()),
            Cell::Count(sample.tid.into()),
            Cell::Count(sample.cpu.into()),
            Cell::Count(stack.into()),
        ]);
    }

    /// What a thread calls itself.
    pub fn thread(&mut self, time_ns: i64, pid: u32, tid: u32, name: &str) {
        let numbers = [Cell::Int(time_ns), Cell::Count(pid.into()), Cell::Count(tid.into())];
        let [time, pid, tid] = numbers;
        self.threads.push(&[time, pid, tid, Cell::Text(name)]);
    }

    /// Hands everything to the operating system, what is named before what names it.
    pub fn flush(
        &mut self,
        time_ns: i64,
        modules: &Modules,
        tree: &CallTree,
        counts: Counts,
        cost: Cost,
    ) -> Result<(), ProfileError> {
        self.add_new(modules, tree);
        self.profile.push(&[
            Cell::Int(time_ns),
            Cell::Count(counts.samples),
            Cell::Count(counts.elsewhere),
            Cell::Count(counts.lost),
            Cell::Count(counts.throttled),
            Cell::Count(counts.cut),
            Cell::Count(counts.broken),
        ]);
        self.cost.push(&[
            Cell::Int(time_ns),
            Cell::Text("profile"),
            Cell::Count(cost.cpu_ns),
            Cell::Count(counts.samples),
            Cell::Count(cost.longest_ns),
        ]);
        for stream in self.in_order() {
            stream.flush()?;
        }
        Ok(())
    }

    /// All streams, what is named before what names it.
    fn in_order(&mut self) -> [&mut Stream; 8] {
        [
            &mut self.modules,
            &mut self.frames,
            &mut self.stacks,
            &mut self.threads,
            &mut self.samples,
            &mut self.profile,
            &mut self.symbols,
            &mut self.cost,
        ]
    }

    fn add_new(&mut self, modules: &Modules, tree: &CallTree) {
        for (number, module) in modules.all().iter().enumerate().skip(self.written.0) {
            let build_id = module.elf.as_ref().and_then(|elf| elf.build_id());
            self.modules.push(&[
                Cell::Count(number as u64),
                Cell::Text(&module.path),
                build_id.map_or(Cell::Null, Cell::Text),
            ]);
        }
        for (number, (module, address)) in tree.frames().iter().enumerate().skip(self.written.1) {
            let module = module.map_or(Cell::Null, |module| Cell::Count(module.into()));
            self.frames.push(&[Cell::Count(number as u64), module, Cell::Count(*address)]);
        }
        for (number, (parent, frame)) in tree.nodes().iter().enumerate().skip(self.written.2) {
            let parent = parent.map_or(Cell::Null, |parent| Cell::Count(parent.into()));
            self.stacks.push(&[Cell::Count(number as u64), parent, Cell::Count((*frame).into())]);
        }
        self.written = (modules.all().len(), tree.frames().len(), tree.nodes().len());
    }

    /// The function of a frame.
    pub fn symbol(&mut self, frame: FrameId, symbol: &Symbol) {
        self.symbols.push(&[
            Cell::Count(frame.into()),
            symbol.name.as_deref().map_or(Cell::Null, Cell::Text),
            Cell::Text(symbol.kind.name()),
            symbol.start.into(),
            symbol.size_bytes.into(),
        ]);
    }

    /// What stands for the missing part of a stack.
    pub fn pseudo_symbol(&mut self, frame: FrameId, name: &str) {
        let kind = Cell::Text(SymbolKind::None.name());
        let number = Cell::Count(frame.into());
        self.symbols.push(&[number, Cell::Text(name), kind, Cell::Null, Cell::Null]);
    }

    /// Ends the streams, so that a reader knows that nothing is missing.
    pub fn finish(&mut self) -> Result<(), ProfileError> {
        for stream in self.in_order() {
            stream.finish()?;
        }
        Ok(())
    }
}
