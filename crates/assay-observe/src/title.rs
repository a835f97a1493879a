//! What a process calls itself: servers write there what each of their processes is for.

use crate::{ObserveError, ProcRoot};
use assay_kernel::file::{Buffer, ProcFile};

/// Reading it looks into the memory of the process. One that was just started may take its title a
/// little later, and hardly ever another one.
const NEW_TITLE_INTERVAL_NS: i64 = 1_000_000_000;
const TITLE_INTERVAL_NS: i64 = 10_000_000_000;
const TITLE_BYTES_MAX: usize = 64;

/// The title of one process, as last read.
pub(crate) struct Title {
    cmdline: ProcFile,
    text: Option<String>,
    due_ns: i64,
    readings: u32,
}

impl Title {
    pub fn new(root: &ProcRoot, pid: u32) -> Self {
        let cmdline = ProcFile::record(root.process(pid).join("cmdline"));
        Self { cmdline, text: None, due_ns: i64::MIN, readings: 0 }
    }

    /// The title; read twice in a second and then every ten seconds, so it may be that old.
    pub fn read(
        &mut self,
        time_ns: i64,
        buffer: &mut Buffer,
    ) -> Result<Option<&str>, ObserveError> {
        if time_ns >= self.due_ns {
            let interval_ns =
                if self.readings == 0 { NEW_TITLE_INTERVAL_NS } else { TITLE_INTERVAL_NS };
            self.due_ns = time_ns.saturating_add(interval_ns);
            self.readings = self.readings.saturating_add(1);
            self.text = self.cmdline.read(buffer)?.and_then(title);
        }
        Ok(self.text.as_deref())
    }
}

/// The text up to its first zero byte: a title that the process wrote, or else the name of its
/// program. Arguments come after that byte, and may be secret.
fn title(cmdline: &[u8]) -> Option<String> {
    let text = cmdline.split(|byte| *byte == 0).next()?;
    let shown = String::from_utf8_lossy(&text[..text.len().min(TITLE_BYTES_MAX)]);
    let shown = shown.trim();
    (!shown.is_empty()).then(|| shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_what_the_process_wrote_and_never_an_argument() {
        assert_eq!(title(b"server: writer \0\0\0").as_deref(), Some("server: writer"));
        assert_eq!(title(b"/bin/client\0--password=x\0").as_deref(), Some("/bin/client"));
        assert_eq!(title(b""), None);
        assert_eq!(title(b"\0\0"), None);
    }

    #[test]
    fn a_long_title_is_cut_wherever_its_letters_end() {
        let cut = title("ä".repeat(40).as_bytes()).unwrap();
        assert_eq!(cut, "ä".repeat(32));
        assert_eq!(title(&[b'x'; 99]).unwrap().len(), TITLE_BYTES_MAX);
        assert!(title(format!("x{}", "ä".repeat(40)).as_bytes()).unwrap().ends_with('\u{fffd}'));
    }
}
