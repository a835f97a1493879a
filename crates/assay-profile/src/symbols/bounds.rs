//! Where functions start and end, by the unwind tables: `.eh_frame` survives stripping.

use gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EhFrameOffset, EndianSlice, Pointer, RunTimeEndian,
    UnwindSection,
};
use object::{Object, ObjectSection};

type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// First address, and first address behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub start: u64,
    pub end: u64,
}

/// The functions of a file.
pub(super) struct Functions<'d> {
    /// By start.
    starts: Vec<(u64, End)>,
    frames: Option<Frames<'d>>,
}

/// Reading an entry of `.eh_frame` waits until it is asked for: most never are.
#[derive(Clone, Copy)]
enum End {
    At(u64),
    InEntry(EhFrameOffset),
}

struct Frames<'d> {
    section: EhFrame<Slice<'d>>,
    address: u64,
    bases: BaseAddresses,
}

impl<'d> Functions<'d> {
    pub fn none() -> Self {
        Self { starts: Vec::new(), frames: None }
    }

    #[cfg(test)]
    pub fn of(functions: &[(u64, u64)]) -> Self {
        let starts = functions.iter().map(|(start, end)| (*start, End::At(*end))).collect();
        Self { starts, frames: None }
    }

    pub fn read(elf: &object::File<'d>) -> Self {
        let Some((section, address)) = section(elf, ".eh_frame") else { return Self::none() };
        let mut bases = BaseAddresses::default().set_eh_frame(address);
        for (name, set) in [
            (".text", BaseAddresses::set_text as fn(_, _) -> _),
            (".got", BaseAddresses::set_got as fn(_, _) -> _),
        ] {
            if let Some(section) = elf.section_by_name(name) {
                bases = set(bases, section.address());
            }
        }
        let mut section = EhFrame::from(section);
        section.set_address_size(address_size(elf));
        let mut frames = Frames { section, address, bases };
        let mut starts = frames.by_header(elf).unwrap_or_else(|| frames.by_walking());
        starts.sort_unstable_by_key(|(start, _)| *start);
        Self { starts, frames: Some(frames) }
    }

    /// The function that covers `address`.
    pub fn covering(&self, address: u64) -> Option<Function> {
        self.before(address).filter(|function| address < function.end)
    }

    /// The last function that starts at or before `address`.
    pub fn before(&self, address: u64) -> Option<Function> {
        let behind = self.starts.partition_point(|(start, _)| *start <= address);
        let (start, end) = *self.starts[..behind].last()?;
        let end = match end {
            End::At(end) => end,
            End::InEntry(offset) => self.frames.as_ref()?.end(start, offset)?,
        };
        Some(Function { start, end })
    }

    /// Where the first function behind `address` starts.
    pub fn next_start(&self, address: u64) -> Option<u64> {
        let behind = self.starts.partition_point(|(start, _)| *start <= address);
        self.starts.get(behind).map(|(start, _)| *start)
    }
}

impl<'d> Frames<'d> {
    /// By the table that linkers make for searching; none where it is missing or lacks an entry.
    fn by_header(&mut self, elf: &object::File<'d>) -> Option<Vec<(u64, End)>> {
        let (bytes, address) = section(elf, ".eh_frame_hdr")?;
        self.bases = self.bases.clone().set_eh_frame_hdr(address);
        let header = EhFrameHdr::from(bytes).parse(&self.bases, address_size(elf)).ok()?;
        let table = header.table()?;
        let mut entries = table.iter(&self.bases);
        let mut starts = Vec::new();
        while let Some((start, entry)) = entries.next().ok()? {
            let (Pointer::Direct(start), Pointer::Direct(entry)) = (start, entry) else {
                return None;
            };
            let offset = entry.checked_sub(self.address)?;
            starts.push((start, End::InEntry(EhFrameOffset(offset.try_into().ok()?))));
        }
        (!starts.is_empty()).then_some(starts)
    }

    /// Up to the first entry that cannot be read.
    fn by_walking(&self) -> Vec<(u64, End)> {
        let mut entries = self.section.entries(&self.bases);
        let mut starts = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let Ok(entry) = partial.parse(EhFrame::cie_from_offset) else { continue };
            starts.push((entry.initial_address(), End::At(entry.end_address())));
        }
        starts
    }

    fn end(&self, start: u64, offset: EhFrameOffset) -> Option<u64> {
        let entry = self
            .section
            .fde_from_offset(&self.bases, offset, EhFrame::cie_from_offset)
            .ok()
            .filter(|entry| entry.initial_address() == start)?;
        start.checked_add(entry.len())
    }
}

fn section<'d>(elf: &object::File<'d>, name: &str) -> Option<(Slice<'d>, u64)> {
    let section = elf.section_by_name(name)?;
    let bytes = section.data().ok().filter(|bytes| !bytes.is_empty())?;
    let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    Some((EndianSlice::new(bytes, endian), section.address()))
}

fn address_size(elf: &object::File) -> u8 {
    if elf.is_64() { 8 } else { 4 }
}
