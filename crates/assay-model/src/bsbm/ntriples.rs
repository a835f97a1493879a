//! N-Triples: a line a fact.

use super::describe::{Form, Lines, Name, Object, Page};
use super::iris::{COUNTRIES, INSTANCES, Thing, write_number};

macro_rules! typed {
    ($namespace:literal, $local:literal) => {
        concat!("\"^^<", $namespace, $local, "> .\n").as_bytes()
    };
}

macro_rules! xsd {
    ($local:literal) => {
        typed!("http://www.w3.org/2001/XMLSchema#", $local)
    };
}

const END: &[u8] = b".\n";
const END_IRI: &[u8] = b"> .\n";
const END_TEXT: &[u8] = b"\" .\n";
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
/// Hexadecimal digits of a digest.
const DIGEST: usize = 40;

/// Writes facts as lines of N-Triples.
#[derive(Debug)]
pub struct NTriples {
    /// The lines, each with the newline that ends it.
    pub lines: Lines,
    /// The IRI of what is described, with the blank behind it.
    subject: Vec<u8>,
}

impl NTriples {
    /// Room for so many bytes of lines.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { lines: Lines::with_capacity(bytes), subject: Vec::new() }
    }
}

impl Form for NTriples {
    fn begin(&mut self, subject: Thing) {
        self.subject.clear();
        write_thing(&mut self.subject, subject);
        self.subject.extend_from_slice(b"> ");
    }

    fn fact(&mut self, property: Name, object: Object) {
        let out = &mut self.lines.bytes;
        out.extend_from_slice(&self.subject);
        out.extend_from_slice(property.full.as_bytes());
        write_object(out, object);
        self.lines.end();
    }

    fn end(&mut self) {}
}

fn write_object(out: &mut Vec<u8>, object: Object) {
    let end = match object {
        Object::Thing(thing) => {
            write_thing(out, thing);
            END_IRI
        }
        Object::Class(class) => {
            out.extend_from_slice(class.full.as_bytes());
            END
        }
        Object::Page(_) => {
            out.push(b'<');
            write_lexical(out, object);
            END_IRI
        }
        Object::Country(_) => {
            out.push(b'<');
            out.extend_from_slice(COUNTRIES.as_bytes());
            write_lexical(out, object);
            END_IRI
        }
        literal => {
            out.push(b'"');
            write_literal(out, literal)
        }
    };
    out.extend_from_slice(end);
}

/// Writes what stands in a literal; returns what ends it.
fn write_literal(out: &mut Vec<u8>, object: Object) -> &'static [u8] {
    write_lexical(out, object);
    match object {
        Object::Typed(_) => xsd!("string"),
        Object::Integer(_) => xsd!("integer"),
        Object::Date(_) => xsd!("date"),
        Object::Moment(_) => xsd!("dateTime"),
        Object::Dollars(_) => {
            typed!("http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/", "USD")
        }
        Object::Tongue(_, language) => {
            out.extend_from_slice(b"\"@");
            out.extend_from_slice(language.as_bytes());
            b" .\n"
        }
        _ => END_TEXT,
    }
}

/// Writes what stands between a literal's quotation marks, of which none has to be escaped, the
/// address of a page, or the code of a country.
///
/// # Panics
///
/// If the object is a thing or a class, which have names only.
pub fn write_lexical(out: &mut Vec<u8>, object: Object) {
    match object {
        Object::Text(text) | Object::Typed(text) | Object::Tongue(text, _) => text.write(out),
        Object::Said(text) => out.extend_from_slice(text.as_bytes()),
        Object::Page(page) => write_page(out, page),
        Object::Country(country) => out.extend_from_slice(country.code().as_bytes()),
        Object::Digest(bits) => out.extend_from_slice(&digits(bits)),
        Object::Integer(number) => write_number(out, number),
        Object::Dollars(cents) => {
            write_number(out, cents / 100);
            let digit = |number: u32| b'0' + (number % 10) as u8;
            out.extend_from_slice(&[b'.', digit(cents / 10), digit(cents)]);
        }
        Object::Date(day) => out.extend_from_slice(&day.text()),
        Object::Moment(day) => {
            out.extend_from_slice(&day.text());
            out.extend_from_slice(b"T00:00:00");
        }
        Object::Thing(_) | Object::Class(_) => panic!("{object:?} is a name and has no text"),
    }
}

fn write_thing(out: &mut Vec<u8>, thing: Thing) {
    out.push(b'<');
    out.extend_from_slice(INSTANCES.as_bytes());
    thing.write(out);
}

fn write_page(out: &mut Vec<u8>, page: Page) {
    match page {
        Page::Producer(number) => {
            out.extend_from_slice(b"http://www.Producer");
            write_number(out, number);
            out.extend_from_slice(b".com/");
        }
        Page::Vendor(number) => {
            out.extend_from_slice(b"http://www.vendor");
            write_number(out, number);
            out.extend_from_slice(b".com/");
        }
        Page::Offer(number, vendor) => {
            out.extend_from_slice(INSTANCES.as_bytes());
            Thing::Offer(number, vendor).write(out);
            out.push(b'/');
        }
    }
}

/// Forty hexadecimal digits of random bits.
fn digits(bits: [u64; 3]) -> [u8; DIGEST] {
    std::array::from_fn(|place| {
        HEXADECIMAL[(bits[place / 16] >> (4 * (place % 16)) & 0xF) as usize]
    })
}
