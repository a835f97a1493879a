//! Records of a ring: bytes to values. Anything too short or unknown is `Other`, never a panic.

use perf_event_open_sys::bindings as sys;

use super::attr::USER_REGISTER_COUNT;

/// What follows every record that is not a sample: pid and tid, time, processor.
const TRAILER_BYTES: usize = 24;
const HEADER_BYTES: usize = 8;
const PROT_EXEC: u32 = 4;
/// What is said of the registers of a thread of the kernel.
const NO_USER_SPACE: u64 = sys::PERF_SAMPLE_REGS_ABI_NONE as u64;

/// Registers of user space that unwinding begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs {
    /// Instruction.
    pub ip: u64,
    /// Stack.
    pub sp: u64,
    /// Frame.
    pub fp: u64,
    /// Return address, where a register holds it; else 0.
    pub lr: u64,
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// When, by the clock that was asked for.
    pub time_ns: i64,
    /// Processor.
    pub cpu: u32,
    /// What was executing.
    pub ip: u64,
    /// Addresses that the kernel found, innermost first, among marks of where they are from.
    pub chain: &'a [u8],
    /// Registers of user space; `None` for a thread of the kernel, or where not asked for.
    pub regs: Option<Regs>,
    /// Bytes of the stack from `regs.sp` on.
    pub stack: &'a [u8],
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// Code was mapped.
    Mapped {
        /// Process.
        pid: u32,
        /// When, by the clock that was asked for.
        time_ns: i64,
        /// First address.
        start: u64,
        /// Length.
        length: u64,
        /// Where in the file.
        offset: u64,
        /// Which file, by number.
        inode: u64,
        /// Its path, as the kernel writes it.
        path: &'a [u8],
    },
    /// A thread took a name.
    Named {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// The name.
        name: &'a [u8],
        /// Whether because it executes another program now.
        executed: bool,
    },
    /// A thread or process was born.
    Born {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// Process of the parent.
        parent_pid: u32,
        /// Thread of the parent.
        parent_tid: u32,
    },
    /// A thread ended; the process with it, where it is the first.
    Ended {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
    },
    /// So many records found no room.
    Lost(u64),
    /// The kernel paused sampling.
    Throttled,
    /// Nothing that is used here.
    Other,
}

/// Reads numbers one after the other; `None` where the bytes end.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }
}

/// Understands one record. `copies`: whether registers and stack were asked for.
pub fn parse(bytes: &[u8], copies: bool) -> Record<'_> {
    parsed(bytes, copies).unwrap_or(Record::Other)
}

fn parsed(bytes: &[u8], copies: bool) -> Option<Record<'_>> {
    let mut header = Fields(bytes.get(..HEADER_BYTES)?);
    let kind = header.u32()?;
    let misc = header.u32()? & 0xffff;
    let body = bytes.get(HEADER_BYTES..)?;
    if kind == sys::PERF_RECORD_SAMPLE {
        return sample(Fields(body), copies).map(Record::Sample);
    }
    let (body, trailer) = body.split_at_checked(body.len().checked_sub(TRAILER_BYTES)?)?;
    let mut fields = Fields(body);
    match kind {
        sys::PERF_RECORD_MMAP2 => mapped(fields, Fields(trailer)),
        sys::PERF_RECORD_COMM => {
            let (pid, tid) = (fields.u32()?, fields.u32()?);
            let executed = misc & sys::PERF_RECORD_MISC_COMM_EXEC != 0;
            Some(Record::Named { pid, tid, name: text(fields.0), executed })
        }
        sys::PERF_RECORD_FORK => {
            let (pid, parent_pid) = (fields.u32()?, fields.u32()?);
            let (tid, maker) = (fields.u32()?, fields.u32()?);
            Some(Record::Born { pid, tid, parent_pid, parent_tid: maker })
        }
        sys::PERF_RECORD_EXIT => {
            let (pid, _, tid) = (fields.u32()?, fields.u32()?, fields.u32()?);
            Some(Record::Ended { pid, tid })
        }
        sys::PERF_RECORD_LOST => {
            fields.u64()?;
            fields.u64().map(Record::Lost)
        }
        sys::PERF_RECORD_THROTTLE => Some(Record::Throttled),
        _ => None,
    }
}

fn mapped<'a>(mut fields: Fields<'a>, mut trailer: Fields<'_>) -> Option<Record<'a>> {
    let pid = fields.u32()?;
    fields.u32()?;
    let (start, length, offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    fields.u64()?;
    let inode = fields.u64()?;
    fields.u64()?;
    let rights = fields.u32()?;
    fields.u32()?;
    let path = text(fields.0);
    trailer.u64()?;
    let time_ns = trailer.u64()? as i64;
    let record = Record::Mapped { pid, time_ns, start, length, offset, inode, path };
    (rights & PROT_EXEC != 0).then_some(record)
}

fn sample(mut fields: Fields<'_>, copies: bool) -> Option<Sample<'_>> {
    let ip = fields.u64()?;
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    let time_ns = fields.u64()? as i64;
    let cpu = fields.u32()?;
    fields.u32()?;
    let length = usize::try_from(fields.u64()?).ok()?.checked_mul(8)?;
    let chain = fields.take(length)?;
    let mut sample = Sample { pid, tid, time_ns, cpu, ip, chain, regs: None, stack: &[] };
    if copies {
        sample.regs = match fields.u64()? {
            NO_USER_SPACE => None,
            _ => Some(registers(&mut fields)?),
        };
        sample.stack = stack(&mut fields)?;
    }
    Some(sample)
}

fn registers(fields: &mut Fields<'_>) -> Option<Regs> {
    let mut values = [0; USER_REGISTER_COUNT];
    for value in &mut values {
        *value = fields.u64()?;
    }
    Some(named(values))
}

/// The kernel hands registers over in the order of their bits.
#[cfg(target_arch = "x86_64")]
fn named([fp, sp, ip]: [u64; USER_REGISTER_COUNT]) -> Regs {
    Regs { ip, sp, fp, lr: 0 }
}

#[cfg(target_arch = "aarch64")]
fn named([fp, lr, sp, ip]: [u64; USER_REGISTER_COUNT]) -> Regs {
    Regs { ip, sp, fp, lr }
}

/// What of the copy is the stack's: the kernel keeps room for all and says how much it filled.
fn stack<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let room = usize::try_from(fields.u64()?).ok()?;
    if room == 0 {
        return Some(&[]);
    }
    let copy = fields.take(room)?;
    let filled = usize::try_from(fields.u64()?).ok()?;
    copy.get(..filled.min(room))
}

/// Text that ends at the first zero.
fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(((HEADER_BYTES + body.len()) as u16).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn word_bytes(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    #[test]
    fn a_sample_has_its_chain_registers_and_the_filled_part_of_its_stack() {
        let mut body = word_bytes(&[0x1000, pair(7, 8), 99, pair(3, 0), 2, 0x1000, 0x2000, 2]);
        body.extend(word_bytes(&[1; USER_REGISTER_COUNT]));
        body.extend(word_bytes(&[16, 0xaa, 0xbb, 8]));
        let bytes = record(sys::PERF_RECORD_SAMPLE, 0, &body);
        let Record::Sample(sample) = parse(&bytes, true) else { panic!("no sample") };
        let who = (sample.pid, sample.tid, sample.time_ns, sample.cpu, sample.ip);
        assert_eq!(who, (7, 8, 99, 3, 0x1000));
        assert_eq!(sample.chain, word_bytes(&[0x1000, 0x2000]));
        assert_eq!(sample.stack, word_bytes(&[0xaa]));
        assert_eq!(sample.regs.map(|regs| regs.sp), Some(1));
    }

    #[test]
    fn a_thread_of_the_kernel_has_neither_registers_nor_stack() {
        let body = word_bytes(&[0x1000, pair(7, 8), 99, pair(3, 0), 0, 0, 0]);
        let bytes = record(sys::PERF_RECORD_SAMPLE, 0, &body);
        let Record::Sample(sample) = parse(&bytes, true) else { panic!("no sample") };
        assert_eq!(sample.regs, None);
        assert!(sample.stack.is_empty());
    }

    #[test]
    fn a_mapping_of_data_is_not_code() {
        let trailer = word_bytes(&[pair(7, 7), 5, 0]);
        let body = |rights| {
            let mut body = word_bytes(&[pair(7, 7), 0x4000, 0x1000, 0, 0, 42, 0, pair(rights, 2)]);
            body.extend(b"/a/b\0\0\0\0");
            body.extend(&trailer);
            record(sys::PERF_RECORD_MMAP2, 0, &body)
        };
        assert!(matches!(parse(&body(1), true), Record::Other));
        let bytes = body(5);
        let Record::Mapped { pid, time_ns, start, length, inode, path, .. } = parse(&bytes, true)
        else {
            panic!("no mapping")
        };
        assert_eq!((pid, time_ns, start), (7, 5, 0x4000));
        assert_eq!((length, inode, path), (0x1000, 42, &b"/a/b"[..]));
    }

    #[test]
    fn births_names_and_losses_are_told() {
        let trailer = [pair(7, 7), 5, 0];
        let of =
            |kind, misc, body: &[u64]| record(kind, misc, &word_bytes(&[body, &trailer].concat()));
        let bytes = of(sys::PERF_RECORD_FORK, 0, &[pair(9, 7), pair(9, 8), 0]);
        let born = parse(&bytes, true);
        assert!(matches!(born, Record::Born { pid: 9, tid: 9, parent_pid: 7, parent_tid: 8 }));
        let bytes = of(sys::PERF_RECORD_LOST, 0, &[0, 12]);
        assert!(matches!(parse(&bytes, true), Record::Lost(12)));
        let bytes = of(sys::PERF_RECORD_EXIT, 0, &[pair(9, 7), pair(11, 8), 0]);
        assert!(matches!(parse(&bytes, true), Record::Ended { pid: 9, tid: 11 }));
        let name = u64::from_ne_bytes(*b"worker\0\0");
        let bytes = of(sys::PERF_RECORD_COMM, 1 << 13, &[pair(9, 9), name]);
        let named = parse(&bytes, true);
        assert!(matches!(named, Record::Named { name: b"worker", executed: true, .. }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_record_or_none(bytes: Vec<u8>, copies: bool, kind in 0_u32..20) {
            parse(&bytes, copies);
            parse(&record(kind, 0, &bytes), copies);
        }
    }
}
