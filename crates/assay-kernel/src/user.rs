//! The user of this process.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// Longer than any entry of a user.
const ENTRY_BYTES: usize = 16 << 10;

/// The name of the effective user; `None` where the host knows none.
pub fn user_name() -> Option<String> {
    name_of_user(rustix::process::geteuid().as_raw())
}

/// The name of a user by number; `None` where the host knows none.
#[expect(unsafe_code, reason = "the library fills in an entry whose texts are in our buffer")]
pub fn name_of_user(uid: u32) -> Option<String> {
    let mut texts = vec![0 as c_char; ENTRY_BYTES];
    let mut entry = MaybeUninit::<libc::passwd>::zeroed();
    let mut result = std::ptr::null_mut();
    let failed = unsafe {
        let (entry, room) = (entry.as_mut_ptr(), texts.len());
        libc::getpwuid_r(uid, entry, texts.as_mut_ptr(), room, &raw mut result)
    };
    if failed != 0 || result.is_null() {
        return None;
    }
    // The entry points into `texts`, which lives on.
    let name = unsafe { CStr::from_ptr((*result).pw_name) };
    Some(name.to_str().ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_user_that_id_tells() {
        let output = std::process::Command::new("id").arg("-un").output().unwrap();
        let name = String::from_utf8(output.stdout).unwrap();
        assert_eq!(user_name().as_deref(), Some(name.trim()).filter(|name| !name.is_empty()));
    }
}
