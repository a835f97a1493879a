//! `/proc/<pid>/maps`: the code that a process has mapped.

/// Code that a process has mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Length.
    pub length: u64,
    /// Where in the file.
    pub offset: u64,
    /// Which file, by number.
    pub inode: u64,
    /// Its path; empty where there is none.
    pub path: String,
}

/// The mappings of code in the text of a maps file.
pub fn mappings(text: &[u8]) -> Vec<Mapping> {
    String::from_utf8_lossy(text).lines().filter_map(mapping).collect()
}

/// One line of `maps`, if it is of code.
fn mapping(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let rights = fields.next()?;
    let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
    let _device = fields.next()?;
    let inode = fields.next()?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_start().to_owned();
    let length = end.checked_sub(start)?;
    rights.contains('x').then_some(Mapping { start, length, offset, inode, path })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn code_is_what_may_be_executed() {
        let code = "7f00-7f80 r-xp 00001000 fd:01 42                 /a/file name (deleted)";
        let read = mapping(code).unwrap();
        assert_eq!((read.start, read.length, read.offset), (0x7f00, 0x80, 0x1000));
        assert_eq!((read.inode, read.path.as_str()), (42, "/a/file name (deleted)"));
        assert_eq!(mapping("7f00-7f80 r--p 00001000 fd:01 42 /a/b"), None);
        assert_eq!(mapping("7f00-7f80 rwxp 00000000 00:00 0").unwrap().path, "");
    }

    #[test]
    fn this_process_has_code() {
        let text = std::fs::read("/proc/self/maps").unwrap();
        assert!(mappings(&text).iter().any(|mapping| mapping.path == "[vdso]"));
    }

    proptest! {
        #[test]
        fn any_line_is_a_mapping_or_none(line: String) {
            mapping(&line);
        }
    }
}
