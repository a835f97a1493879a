//! The kernel's description of a tracepoint. Where tracefs is not mounted, a thread of ours mounts it
//! in a mount namespace of its own, which nobody else sees and which ends with the thread.

use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::format::Format;
use crate::ProfileError;

const USUAL_PLACE: &str = "/sys/kernel/tracing";
const TRACEPOINT: &str = "events/block/block_rq_issue/format";
const MEND: &str = "tracing needs root, or CAP_PERFMON with tracefs mounted and readable";
const NO_TRACEPOINT: &str = "this kernel was built without tracepoints of block devices \
                             (CONFIG_BLK_DEV_IO_TRACE or another tracer)";

/// Where the fields of the tracepoint are.
pub fn block_rq_issue() -> Result<Format, ProfileError> {
    let text = match mounted() {
        Some(place) => std::fs::read_to_string(place.join(TRACEPOINT)),
        None => read_privately(),
    };
    let text = text.map_err(|source| {
        let is_absent = source.kind() == io::ErrorKind::NotFound;
        ProfileError::NotTraced { source, mend: if is_absent { NO_TRACEPOINT } else { MEND } }
    })?;
    Format::parse(&text).ok_or_else(|| ProfileError::NotTraced {
        source: io::Error::other("its fields have other names here"),
        mend: "no mend is known; leave --block-trace out",
    })
}

/// Where tracefs is mounted for us, if it is.
fn mounted() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let place = fields.next()?;
        (fields.next()? == "tracefs").then(|| PathBuf::from(place))
    })
}

fn read_privately() -> io::Result<String> {
    let reading = std::thread::Builder::new().name("assay-tracefs".to_owned()).spawn(|| {
        #[expect(unsafe_code, reason = "this thread shares its files on")]
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        // Nothing that is mounted from here on is to be seen elsewhere.
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        mount("tracefs", USUAL_PLACE, "tracefs", MountFlags::empty(), None)?;
        std::fs::read_to_string(Path::new(USUAL_PLACE).join(TRACEPOINT))
    })?;
    reading.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread panicked")))
}
