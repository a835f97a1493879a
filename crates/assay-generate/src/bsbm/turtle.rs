//! Turtle: a block a thing.

use std::fmt::Write as _;

use assay_model::bsbm::{COUNTRIES, Form, INSTANCES, Lines, Name, Object, Thing, write_lexical};

/// Prefixes, and the base that names of things are short for.
const PREFIXES: [(&str, &str); 7] = [
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("rev", "http://purl.org/stuff/rev#"),
    ("bsbm", "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"),
];

/// Writes facts as blocks of Turtle.
pub struct Turtle {
    /// The blocks.
    pub lines: Lines,
    /// Whether the next fact is the first of its block.
    first: bool,
}

impl Turtle {
    /// Room for so many bytes of blocks; the first of them all begins with the prefixes.
    pub fn new(bytes: usize, with_prefixes: bool) -> Self {
        let mut lines = Lines::with_capacity(bytes);
        if with_prefixes {
            let mut header = format!("@base <{INSTANCES}> .\n");
            for (prefix, namespace) in PREFIXES {
                let _ = writeln!(header, "@prefix {prefix}: <{namespace}> .");
            }
            lines.bytes.extend_from_slice(header.as_bytes());
            lines.bytes.push(b'\n');
        }
        Self { lines, first: true }
    }
}

impl Form for Turtle {
    fn begin(&mut self, subject: Thing) {
        write_thing(&mut self.lines.bytes, subject);
        self.first = true;
    }

    fn fact(&mut self, property: &'static Name, object: Object) {
        let out = &mut self.lines.bytes;
        out.extend_from_slice(if self.first { b"\n    " } else { b" ;\n    " });
        self.first = false;
        out.extend_from_slice(property.short.as_bytes());
        out.push(b' ');
        write_object(out, object);
    }

    fn end(&mut self) {
        self.lines.bytes.extend_from_slice(b" .\n\n");
        self.lines.end();
    }
}

fn write_thing(out: &mut Vec<u8>, thing: Thing) {
    out.push(b'<');
    thing.write(out);
    out.push(b'>');
}

fn write_object(out: &mut Vec<u8>, object: Object) {
    let begin: &[u8] = match object {
        Object::Thing(thing) => return write_thing(out, thing),
        Object::Class(class) => return out.extend_from_slice(class.short.as_bytes()),
        Object::Integer(_) => b"",
        Object::Page(_) | Object::Country(_) => b"<",
        _ => b"\"",
    };
    out.extend_from_slice(begin);
    if matches!(object, Object::Country(_)) {
        out.extend_from_slice(COUNTRIES.as_bytes());
    }
    write_lexical(out, object);
    let end: &[u8] = match object {
        Object::Integer(_) => b"",
        Object::Page(_) | Object::Country(_) => b">",
        Object::Typed(_) => b"\"^^xsd:string",
        Object::Date(_) => b"\"^^xsd:date",
        Object::Moment(_) => b"\"^^xsd:dateTime",
        Object::Dollars(_) => b"\"^^bsbm:USD",
        Object::Tongue(..) => b"\"@",
        _ => b"\"",
    };
    out.extend_from_slice(end);
    if let Object::Tongue(_, language) = object {
        out.extend_from_slice(language.as_bytes());
    }
}
