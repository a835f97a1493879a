//! What unwinding needs of a file with code: where its segments lie, and the rules of `.eh_frame`.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use assay_kernel::open_regular;
use framehop::ModuleSectionInfo;
use object::{Object, ObjectSection, ObjectSegment, ReadCache, SegmentFlags};

use crate::symbols::hexadecimal;

/// A part of the file that is loaded to be executed.
#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    address: u64,
    length: u64,
}

/// A section that was read.
#[derive(Clone, Debug)]
struct Section {
    name: &'static str,
    addresses: Range<u64>,
    bytes: Arc<[u8]>,
}

/// A file with code, its tables in memory: nothing is mapped, so a file that shrinks does no harm.
#[derive(Clone, Debug)]
pub struct Elf {
    segments: Vec<Segment>,
    sections: Vec<Section>,
    build_id: Option<String>,
    is_go: bool,
}

impl Elf {
    /// Reads headers and unwinding tables; `None` for what is not an object file.
    pub fn read(path: &Path) -> Option<Self> {
        Self::understood(&ReadCache::new(open_regular(path).ok()?))
    }

    /// The same of a file in memory.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::understood(bytes)
    }

    fn understood<'a>(data: impl object::ReadRef<'a>) -> Option<Self> {
        let file = object::File::parse(data).ok()?;
        let segments = file.segments().filter(is_code).map(|segment| {
            let (offset, length) = segment.file_range();
            Segment { offset, address: segment.address(), length }
        });
        let read = |name: &'static str| {
            let section = file.section_by_name(name)?;
            let bytes: Arc<[u8]> = section.data().ok()?.into();
            let addresses = section.address()..section.address().checked_add(section.size())?;
            Some(Section { name, addresses, bytes })
        };
        Some(Self {
            segments: segments.collect(),
            sections: [".eh_frame", ".eh_frame_hdr"].into_iter().filter_map(read).collect(),
            is_go: file.section_by_name(".gopclntab").is_some(),
            build_id: file.build_id().ok().flatten().map(hexadecimal),
        })
    }

    /// Its build id, in hexadecimal.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// The address that the file gives to the begin of a mapping of its code.
    ///
    /// A mapping begins at a page, the segment that it is of may begin within that page; and two
    /// segments may share a page of the file, so what the page holds first is no guide.
    pub fn address_of(&self, offset: u64, length: u64) -> Option<u64> {
        let end = offset.saturating_add(length);
        let overlaps = |segment: &&Segment| {
            segment.offset < end && offset < segment.offset.saturating_add(segment.length)
        };
        let segment = self.segments.iter().find(overlaps)?;
        Some(segment.address.wrapping_sub(segment.offset).wrapping_add(offset))
    }

    /// Whether Go's linker made it.
    pub fn is_go(&self) -> bool {
        self.is_go
    }

    /// The rules of `.eh_frame`: where they would be loaded, and they.
    pub fn eh_frame(&self) -> Option<(u64, &[u8])> {
        let section = self.section(b".eh_frame")?;
        Some((section.addresses.start, &section.bytes))
    }

    fn section(&self, name: &[u8]) -> Option<&Section> {
        self.sections.iter().find(|section| section.name.as_bytes() == name)
    }
}

fn is_code<'a>(segment: &impl ObjectSegment<'a>) -> bool {
    match segment.flags() {
        SegmentFlags::Elf { p_flags } => p_flags & object::elf::PF_X != 0,
        _ => false,
    }
}

impl ModuleSectionInfo<Arc<[u8]>> for &Elf {
    fn base_svma(&self) -> u64 {
        0
    }

    fn section_svma_range(&mut self, name: &[u8]) -> Option<Range<u64>> {
        Some(self.section(name)?.addresses.clone())
    }

    fn section_data(&mut self, name: &[u8]) -> Option<Arc<[u8]>> {
        Some(Arc::clone(&self.section(name)?.bytes))
    }
}
