//! Names that statements bind values by.

/// What a value is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A product, any of them.
    Product,
    /// The producer of that product.
    ProducerOfProduct,
    /// A producer, any of them.
    Producer,
    /// An offer, any of them.
    Offer,
    /// The vendor of that offer.
    VendorOfOffer,
    /// A review, any of them.
    Review,
    /// The rating site of that review.
    SiteOfReview,
    /// A type that products have: any leaf of the tree.
    Type,
    /// One of three different features that products of that type can have, from 0.
    Feature(usize),
    /// A step on the way from the root of all types to a leaf.
    DrilledType,
    /// The same, the root left out.
    DrilledTypeBelowRoot,
    /// A value of a numeric property.
    X,
    /// Another one.
    Y,
    /// A country, as often as things are of it, by its number among those of the query.
    Country(usize),
    /// The first day of one of three months that follow each other, from 0.
    Month(usize),
    /// Facts of a product that the data do not have.
    Triples,
}

/// As statements write them.
const REGISTERS: [(&str, Register); 22] = [
    ("product", Register::Product),
    ("producer_of_product", Register::ProducerOfProduct),
    ("producer", Register::Producer),
    ("offer", Register::Offer),
    ("vendor_of_offer", Register::VendorOfOffer),
    ("review", Register::Review),
    ("site_of_review", Register::SiteOfReview),
    ("type", Register::Type),
    ("feature_1", Register::Feature(0)),
    ("feature_2", Register::Feature(1)),
    ("feature_3", Register::Feature(2)),
    ("drilled_type", Register::DrilledType),
    ("drilled_type_below_root", Register::DrilledTypeBelowRoot),
    ("x", Register::X),
    ("y", Register::Y),
    ("country", Register::Country(0)),
    ("country_1", Register::Country(0)),
    ("country_2", Register::Country(1)),
    ("month_0", Register::Month(0)),
    ("month_1", Register::Month(1)),
    ("month_2", Register::Month(2)),
    ("triples", Register::Triples),
];

/// The register of a name.
///
/// # Errors
/// If there is none, with the names that there are.
pub fn find(name: &str) -> Result<Register, String> {
    let entry = REGISTERS.iter().find(|(entry_name, _)| *entry_name == name);
    entry.map(|(_, register)| *register).ok_or_else(|| {
        let names = REGISTERS.map(|(name, _)| name).join(", ");
        format!("it knows no value {name:?}, but these: {names}")
    })
}
