//! Names of things as the published queries have them.

/// The namespace of all things; IRIs of the data begin with it.
pub const INSTANCES: &str = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/";
/// The namespace of countries.
pub const COUNTRIES: &str = "http://downlode.org/rdf/iso-3166/countries#";

/// Something that has an IRI: its number, and that of whose data it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// Who says what types and features there are.
    Institution(u32),
    /// A product type.
    ProductType(u32),
    /// A feature of products.
    ProductFeature(u32),
    /// A producer.
    Producer(u32),
    /// A product, and its producer.
    Product(u32, u32),
    /// A vendor.
    Vendor(u32),
    /// An offer, and its vendor.
    Offer(u32, u32),
    /// A rating site.
    RatingSite(u32),
    /// A person who writes reviews, and the rating site.
    Person(u32, u32),
    /// A review, and the rating site.
    Review(u32, u32),
}

impl Thing {
    /// Adds what the IRI has behind [`INSTANCES`] to a buffer.
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Institution(number) => numbered(out, "StandardizationInstitution", number),
            Self::ProductType(number) => numbered(out, "ProductType", number),
            Self::ProductFeature(number) => numbered(out, "ProductFeature", number),
            Self::Producer(number) => of(out, "dataFromProducer", number, "/Producer", number),
            Self::Product(number, by) => of(out, "dataFromProducer", by, "/Product", number),
            Self::Vendor(number) => of(out, "dataFromVendor", number, "/Vendor", number),
            Self::Offer(number, by) => of(out, "dataFromVendor", by, "/Offer", number),
            Self::RatingSite(number) => {
                of(out, "dataFromRatingSite", number, "/RatingSite", number);
            }
            Self::Person(number, at) => of(out, "dataFromRatingSite", at, "/Reviewer", number),
            Self::Review(number, at) => of(out, "dataFromRatingSite", at, "/Review", number),
        }
    }

    /// The whole IRI, without brackets.
    pub fn iri(self) -> String {
        let mut out = INSTANCES.as_bytes().to_vec();
        self.write(&mut out);
        String::from_utf8(out).expect("names are ASCII")
    }
}

#[inline]
fn numbered(out: &mut Vec<u8>, name: &str, number: u32) {
    out.extend_from_slice(name.as_bytes());
    write_number(out, number);
}

#[inline]
fn of(out: &mut Vec<u8>, source: &str, by: u32, name: &str, number: u32) {
    numbered(out, source, by);
    numbered(out, name, number);
}

/// Adds a number to a buffer, in digits.
pub fn write_number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
