//! Whether a binary keeps frame pointers: then the kernel can follow its stacks, and nothing has to
//! be copied. The rules of `.eh_frame` tell: where a function keeps one, its frame is found by that
//! register for most of its length.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, LittleEndian, Register, UnwindContext, UnwindSection,
};

use crate::elf::Elf;

#[cfg(target_arch = "x86_64")]
const FRAME_REGISTER: Register = gimli::X86_64::RBP;
#[cfg(target_arch = "aarch64")]
const FRAME_REGISTER: Register = gimli::AArch64::X29;

/// Functions that are looked at.
const LOOKED_AT: usize = 500;
/// Shorter ones often call nothing, and need no frame.
const LENGTH_MIN_BYTES: u64 = 64;
/// A function may leave its frame out where it cannot fail to return; most may not.
const SHARE_MIN: f64 = 0.9;

/// Whether nearly all functions of a file keep a frame pointer. Of Go's code it is known: it has no
/// such rules, and always keeps one.
pub fn has_frame_pointers(elf: &Elf) -> bool {
    if elf.is_go() {
        return true;
    }
    let Some((address, bytes)) = elf.eh_frame() else { return false };
    share(address, bytes).is_some_and(|share| share >= SHARE_MIN)
}

/// The share among functions spread over the file; `None` if there is none to look at.
fn share(address: u64, bytes: &[u8]) -> Option<f64> {
    let section = EhFrame::new(bytes, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(address);
    let mut functions = Vec::new();
    let mut entries = section.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(function) = partial.parse(EhFrame::cie_from_offset) else { continue };
        if function.len() >= LENGTH_MIN_BYTES {
            functions.push(function);
        }
    }
    let step = functions.len().div_ceil(LOOKED_AT).max(1);
    let mut context = UnwindContext::new();
    let (mut seen, mut framed) = (0_u32, 0_u32);
    for function in functions.iter().step_by(step) {
        let Ok(mut rows) = function.rows(&section, &bases, &mut context) else { continue };
        seen += 1;
        while let Ok(Some(row)) = rows.next_row() {
            if matches!(row.cfa(), CfaRule::RegisterAndOffset { register, .. } if *register == FRAME_REGISTER)
            {
                framed += 1;
                break;
            }
        }
    }
    (seen > 0).then(|| f64::from(framed) / f64::from(seen))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn compiled(flag: &str) -> Elf {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.c");
        let body = "int NAME(int a) { int b[9] = {a}; return g(b) + g(b + a) * g(b + 2); }\n";
        let functions = (0..40).map(|n| body.replace("NAME", &format!("f{n}")));
        let text: String = std::iter::once("int g(int*);\n".to_owned()).chain(functions).collect();
        std::fs::write(&source, text).unwrap();
        let out = folder.path().join("a.so");
        let built = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", flag, "-Wl,--allow-shlib-undefined", "-o"])
            .args([&out, &source])
            .status();
        assert!(built.unwrap().success());
        Elf::read(&out).unwrap()
    }

    #[test]
    fn a_compiler_that_keeps_them_is_told_from_one_that_does_not() {
        assert!(has_frame_pointers(&compiled("-fno-omit-frame-pointer")));
        assert!(!has_frame_pointers(&compiled("-fomit-frame-pointer")));
    }

    #[test]
    fn what_is_no_binary_has_none() {
        assert!(Elf::read(Path::new("/etc/passwd")).is_none());
        assert_eq!(share(0, &[]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_share_or_none(bytes: Vec<u8>) {
            share(0, &bytes);
        }
    }
}
