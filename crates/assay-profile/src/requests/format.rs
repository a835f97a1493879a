//! Where a tracepoint has its fields: the kernel says so in a text, and it differs by version.

/// The number and the places of the fields of `block_rq_issue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The tracepoint's number.
    pub id: u64,
    /// Device number.
    pub dev: usize,
    /// First sector.
    pub sector: usize,
    /// Bytes.
    pub bytes: usize,
    /// Letters of the kind of request.
    pub rwbs: Letters,
}

/// Where letters are, and how many there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letters {
    /// Where they begin.
    pub offset: usize,
    /// Their room.
    pub size: usize,
}

impl Format {
    /// Reads the text of a tracepoint's `format`; `None` if a field is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?.trim().parse().ok()?;
        let (offset, size) = place(text, "rwbs")?;
        Some(Self {
            id,
            dev: place(text, "dev")?.0,
            sector: place(text, "sector")?.0,
            bytes: place(text, "bytes")?.0,
            rwbs: Letters { offset, size },
        })
    }
}

/// Offset and size of a field, from a line such as `field:dev_t dev; offset:8; size:4; signed:0;`.
fn place(text: &str, name: &str) -> Option<(usize, usize)> {
    text.lines().find_map(|line| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?;
        let own = declared.rsplit(' ').next()?.split('[').next()?;
        if own != name {
            return None;
        }
        let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
        Some((offset, parts.next()?.strip_prefix("size:")?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\n\
        print fmt: \"%d,%d\", REC->dev, REC->sector\n";

    #[test]
    fn fields_are_where_the_kernel_says() {
        let rwbs = Letters { offset: 34, size: 10 };
        let expected = Format { id: 2104, dev: 8, sector: 16, bytes: 28, rwbs };
        assert_eq!(Format::parse(TEXT), Some(expected));
    }

    #[test]
    fn a_kernel_without_a_field_is_not_understood() {
        assert_eq!(Format::parse(&TEXT.replace(" sector;", " place;")), None);
        assert_eq!(Format::parse(&TEXT.replace("ID: ", "Number: ")), None);
        assert_eq!(Format::parse(""), None);
    }
}
