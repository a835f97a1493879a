//! N-Triples: a line a fact.

use super::describe::{Form, Lines, Name, Object, Page};
use super::iris::{COUNTRIES, INSTANCES, Thing, write_number};
use super::padded::Padded;

/// What ends a line.
type End = Padded<80>;

macro_rules! typed {
    ($namespace:literal, $local:literal) => {{
        const END: End = Padded::new(concat!("\"^^<", $namespace, $local, "> .\n"));
        &END
    }};
}

macro_rules! xsd {
    ($local:literal) => {
        typed!("http://www.w3.org/2001/XMLSchema#", $local)
    };
}

const END: End = Padded::new(".\n");
const END_IRI: End = Padded::new("> .\n");
const END_LANGUAGE: End = Padded::new(" .\n");
const END_TEXT: End = Padded::new("\" .\n");
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
/// Bytes that no subject has more of: the longest names have two numbers of eight digits.
const SUBJECT: usize = 112;
/// Hexadecimal digits of a digest.
const DIGEST: usize = 40;

/// Writes facts as lines of N-Triples.
#[derive(Debug)]
pub struct NTriples {
    /// The lines, each with the newline that ends it.
    pub lines: Lines,
    /// The IRI of what is described, with the blank behind it.
    subject: Padded<SUBJECT>,
}

impl NTriples {
    /// Room for so many bytes of lines.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { lines: Lines::with_capacity(bytes), subject: Padded::new("") }
    }
}

impl Form for NTriples {
    fn begin(&mut self, subject: Thing) {
        let mut name = Vec::with_capacity(SUBJECT);
        write_thing(&mut name, subject);
        name.extend_from_slice(b"> ");
        self.subject = Padded::of(&name);
    }

    fn fact(&mut self, property: &'static Name, object: Object) {
        let out = &mut self.lines.bytes;
        self.subject.write(out);
        property.full.write(out);
        write_object(out, object);
        self.lines.end();
    }

    fn end(&mut self) {}
}

fn write_object(out: &mut Vec<u8>, object: Object) {
    let end = match object {
        Object::Thing(thing) => {
            write_thing(out, thing);
            &END_IRI
        }
        Object::Class(class) => {
            class.full.write(out);
            &END
        }
        Object::Page(_) => {
            out.push(b'<');
            write_lexical(out, object);
            &END_IRI
        }
        Object::Country(_) => {
            out.push(b'<');
            out.extend_from_slice(COUNTRIES.as_bytes());
            write_lexical(out, object);
            &END_IRI
        }
        literal => {
            out.push(b'"');
            write_literal(out, literal)
        }
    };
    end.write(out);
}

/// Writes what stands in a literal; returns what ends it.
fn write_literal(out: &mut Vec<u8>, object: Object) -> &'static End {
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
            &END_LANGUAGE
        }
        _ => &END_TEXT,
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
