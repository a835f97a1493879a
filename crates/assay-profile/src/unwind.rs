//! From a sample to the places of its stack.

use framehop::{CacheNative, Error, FrameAddress, MayAllocateDuringUnwind, Unwinder};
use perf_event_open_sys::bindings as sys;

use crate::modules::{KERNEL, ModuleId, Modules, UNWINDING};
use crate::perf::{Regs, Sample};
use crate::space::Space;
use crate::tree::Place;

/// Deeper than any stack that is not going round in circles.
const FRAMES_MAX: usize = 1024;
/// From here on numbers in a chain are marks, not addresses: `PERF_CONTEXT_MAX`.
const MARKS_FROM: u64 = -4095_i64 as u64;
/// Addresses of the kernel have their highest bit set, on every 64-bit machine.
const KERNEL_FROM: u64 = 1 << 63;

/// How unwinding a stack ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At its outermost frame.
    Whole,
    /// At the end of what was copied of it.
    Cut,
    /// At a place without rules.
    Broken,
}

impl End {
    /// The address, in the module of unwinding, that stands for what is missing.
    pub const fn address(self) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Cut => Some(0),
            Self::Broken => Some(1),
        }
    }

    /// What such an address is called.
    pub const fn name(address: u64) -> &'static str {
        if address == 0 { "stack cut" } else { "no unwind rules" }
    }
}

/// Unwinds the stacks of samples, one after the other.
pub struct Stacks {
    cache: CacheNative<MayAllocateDuringUnwind>,
    kernel: ModuleId,
    unwinding: ModuleId,
    copied_bytes: Option<usize>,
    /// Innermost first.
    places: Vec<Place>,
}

impl Stacks {
    /// `copied_bytes`: how much of each stack is copied; `None`: chains hold user space, too.
    pub fn new(modules: &mut Modules, copied_bytes: Option<usize>) -> Self {
        Self {
            cache: CacheNative::new(),
            kernel: modules.named(KERNEL),
            unwinding: modules.named(UNWINDING),
            copied_bytes,
            places: Vec::new(),
        }
    }

    /// The places of a sample's stack from the outermost to the innermost, and how it ended.
    pub fn of<'a>(
        &'a mut self,
        sample: &Sample<'_>,
        space: &Space,
    ) -> (impl Iterator<Item = Place> + use<'a>, End) {
        self.places.clear();
        self.follow_chain(sample, space);
        let end = match (self.copied_bytes, sample.regs) {
            (Some(copied), Some(regs)) => self.unwind(regs, sample.stack, copied, space),
            _ => End::Whole,
        };
        if self.places.is_empty() {
            self.places.push(placed(space, sample.ip));
        }
        if let Some(address) = end.address() {
            self.places.push((Some(self.unwinding), address));
        }
        (self.places.iter().rev().copied(), end)
    }

    /// What the kernel found itself: its own frames, and those of user space where it was asked.
    fn follow_chain(&mut self, sample: &Sample<'_>, space: &Space) {
        let mut is_caller = false;
        for word in sample.chain.chunks_exact(8) {
            let Ok(word) = word.try_into().map(u64::from_ne_bytes) else { return };
            if word >= MARKS_FROM {
                // Of each part the first address is where it was, the others where it returns to.
                is_caller = false;
                if word == sys::PERF_CONTEXT_USER && self.copied_bytes.is_some() {
                    return;
                }
                continue;
            }
            let address = word.saturating_sub(u64::from(is_caller));
            is_caller = true;
            if word >= KERNEL_FROM {
                self.places.push((Some(self.kernel), address));
            } else {
                self.places.push(placed(space, address));
            }
        }
    }

    fn unwind(&mut self, regs: Regs, stack: &[u8], copied: usize, space: &Space) -> End {
        let is_full = stack.len() >= copied;
        let mut read = |address: u64| word_at(stack, address.wrapping_sub(regs.sp)).ok_or(());
        let unwinder = space.unwinder();
        let mut frames = unwinder.iter_frames(regs.ip, native(regs), &mut self.cache, &mut read);
        for _ in 0..FRAMES_MAX {
            match frames.next() {
                Ok(Some(frame)) => {
                    let place = placed(space, frame.address_for_lookup());
                    let is_code = place.0.is_some();
                    if is_code || matches!(frame, FrameAddress::InstructionPointer(_)) {
                        self.places.push(place);
                    }
                    if !is_code {
                        return End::Broken;
                    }
                }
                Ok(None) => return End::Whole,
                Err(Error::CouldNotReadStack(_)) if is_full => return End::Cut,
                Err(_) => return End::Broken,
            }
        }
        End::Broken
    }
}

fn placed(space: &Space, address: u64) -> Place {
    space.place(address).map_or((None, address), |(module, address)| (Some(module), address))
}

fn word_at(stack: &[u8], offset: u64) -> Option<u64> {
    let offset = usize::try_from(offset).ok()?;
    let bytes = stack.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(target_arch = "x86_64")]
fn native(regs: Regs) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(regs.ip, regs.sp, regs.fp)
}

#[cfg(target_arch = "aarch64")]
fn native(regs: Regs) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(regs.lr, regs.sp, regs.fp)
}
