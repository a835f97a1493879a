//! BSBM V3's data as Arrow batches: all facts as lines of N-Triples or as blocks of Turtle, and the
//! same facts as the tables of the reference's relational export. What each thing is, is a function
//! of the seed and its number ([`assay_model::bsbm`]); a part is a range of numbers.

mod rdf;
mod relations;
mod turtle;

use std::sync::Arc;

use assay_model::bsbm::{SEED, World};

use crate::{GenerateError, Parts};

/// Names of the tables: the two forms of RDF, of one column each, and those of the relational form.
pub const TABLES: [&str; 12] = [
    "triples",
    "turtle",
    "producttype",
    "productfeature",
    "producer",
    "product",
    "producttypeproduct",
    "productfeatureproduct",
    "vendor",
    "offer",
    "person",
    "review",
];

/// The table of this name for so many products.
pub fn table(name: &str, scale: f64, seed: Option<u64>) -> Result<Box<dyn Parts>, GenerateError> {
    let world = Arc::new(World::of_scale(scale, seed.unwrap_or(SEED))?);
    match name {
        "triples" => Ok(Box::new(rdf::Rdf::triples(world))),
        "turtle" => Ok(Box::new(rdf::Rdf::turtle(world))),
        _ => match relations::Relation::named(name, world) {
            Some(relation) => Ok(Box::new(relation)),
            None => Err(GenerateError::Table("bsbm", name.into(), TABLES.join(", "))),
        },
    }
}

#[cfg(test)]
mod tests;
