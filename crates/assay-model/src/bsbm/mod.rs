//! The world of BSBM V3, the Berlin SPARQL Benchmark: a shop's products, who makes and sells them,
//! and what people say of them. A [`World`] knows of any number of products who belongs to whom,
//! and draws each thing by its number alone: the same for every reader, thread and order.
//!
//! Counts, distributions and IRIs are those of the specification and of its reference generator;
//! numbers and words are our own, so no literal is one of the reference's.

mod bell;
mod dates;
mod describe;
mod hierarchy;
mod iris;
mod ntriples;
mod padded;
mod purpose;
mod things;
mod update;
mod words;
mod world;

pub use dates::{Day, TODAY};
pub use describe::{Form, Lines, Name, Object, Page, ROOT};
pub use hierarchy::Hierarchy;
pub use iris::{COUNTRIES, INSTANCES, Thing};
pub use ntriples::{NTriples, write_lexical};
pub use things::{
    Company, Country, Feature, Offer, Person, Product, ProductType, PropertyCounts, Review,
};
pub use words::Text;
pub use world::{PRODUCTS_MAX, SEED, World, WorldError};

#[cfg(test)]
mod tests;
