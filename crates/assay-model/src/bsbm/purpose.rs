//! Random numbers of a thing: they depend on the seed, its kind and its number.

use crate::random::{SplitMix, split_mix};

/// What numbers are for: no two purposes share a sequence.
#[derive(Clone, Copy)]
pub enum Purpose {
    /// How many products producers have.
    Producers = 1,
    /// How many offers vendors have.
    Vendors,
    /// How many reviews rating sites have.
    RatingSites,
    /// How many reviews persons write.
    Persons,
    /// How many features types have.
    Features,
    /// A product type.
    ProductType,
    /// A feature.
    Feature,
    /// A producer.
    Producer,
    /// A product.
    Product,
    /// A vendor.
    Vendor,
    /// An offer.
    Offer,
    /// A person.
    Person,
    /// A review.
    Review,
    /// What an update brings with a product.
    Update,
}

/// The sequence of thing `number`.
pub const fn sequence(seed: u64, purpose: Purpose, number: u32) -> SplitMix {
    let kind = split_mix(seed ^ split_mix(purpose as u64));
    SplitMix::new(split_mix(kind.wrapping_add(number as u64)))
}
