//! All facts, thing after thing: types, features, producers with their products, vendors with their
//! offers, persons with their reviews.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use assay_model::bsbm::{Form, Lines, NTriples, World};

use super::turtle::Turtle;
use crate::Parts;
use crate::columns::{Columns, Kind, batch, schema, texts};

/// Bytes that no part of N-Triples has more of, but rarely.
const PART_BYTES: usize = 6 << 20;

const TRIPLES: Columns = &[("triple", Kind::Text)];
const TURTLE: Columns = &[("block", Kind::Text)];

/// Things of which ranges are parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Types,
    Features,
    /// Each producer before its first product.
    Products,
    /// Each vendor before its first offer.
    Offers,
    /// Each person before the first of the reviews.
    Persons,
}

/// Sections in order, and things of a part: some megabytes of N-Triples.
const SECTIONS: [(Section, u32); 5] = [
    (Section::Types, 2_000),
    (Section::Features, 2_000),
    (Section::Products, 400),
    (Section::Offers, 1_600),
    (Section::Persons, 60),
];

/// A form of RDF.
pub struct Rdf {
    world: Arc<World>,
    columns: Columns,
    rows: u64,
    make: fn(&World, Section, RangeInclusive<u32>) -> Lines,
}

impl Rdf {
    /// A row a fact.
    pub fn triples(world: Arc<World>) -> Self {
        Self { rows: world.triples(), world, columns: TRIPLES, make: triples }
    }

    /// A row a thing; the first row begins with prefixes.
    pub fn turtle(world: Arc<World>) -> Self {
        Self { rows: world.things(), world, columns: TURTLE, make: turtle }
    }

    /// What a part is of.
    fn place(&self, mut part: u32) -> (Section, RangeInclusive<u32>) {
        for (section, a_part) in SECTIONS {
            let count = count(&self.world, section);
            let parts = count.div_ceil(a_part);
            if part < parts {
                let before = part * a_part;
                return (section, before + 1..=count.min(before + a_part));
            }
            part -= parts;
        }
        panic!("there are {} parts", self.parts())
    }
}

impl Parts for Rdf {
    fn schema(&self) -> SchemaRef {
        schema(self.columns)
    }

    fn parts(&self) -> u32 {
        SECTIONS.iter().map(|&(one, a_part)| count(&self.world, one).div_ceil(a_part)).sum()
    }

    fn rows_expected(&self) -> u64 {
        self.rows
    }

    fn make(&self, part: u32) -> RecordBatch {
        let (section, range) = self.place(part);
        let lines = (self.make)(&self.world, section, range);
        batch(self.columns, vec![texts(lines.bytes, lines.ends, None)])
    }
}

fn count(world: &World, section: Section) -> u32 {
    match section {
        Section::Types => world.hierarchy().types(),
        Section::Features => world.hierarchy().features(),
        Section::Products => world.products(),
        Section::Offers => world.offers(),
        Section::Persons => world.persons(),
    }
}

fn triples(world: &World, section: Section, range: RangeInclusive<u32>) -> Lines {
    let mut form = NTriples::with_capacity(PART_BYTES);
    describe(world, section, range, &mut form);
    form.lines
}

fn turtle(world: &World, section: Section, range: RangeInclusive<u32>) -> Lines {
    let first = section == Section::Types && *range.start() == 1;
    let mut form = Turtle::new(PART_BYTES / 2, first);
    describe(world, section, range, &mut form);
    form.lines
}

fn describe<F: Form>(world: &World, section: Section, range: RangeInclusive<u32>, form: &mut F) {
    match section {
        Section::Types => range.for_each(|number| world.product_type(number).describe(form)),
        Section::Features => range.for_each(|number| world.feature(number).describe(form)),
        Section::Products => {
            for number in range {
                let product = world.product(number);
                if *world.products_of(product.producer).start() == number {
                    world.producer(product.producer).describe_producer(form);
                }
                product.describe(world, form);
            }
        }
        Section::Offers => {
            for number in range {
                let offer = world.offer(number);
                if *world.offers_of(offer.vendor).start() == number {
                    world.vendor(offer.vendor).describe_vendor(form);
                }
                offer.describe(form);
            }
        }
        Section::Persons => {
            for number in range {
                world.person(number).describe(form);
                world.reviews_of(number).for_each(|review| world.review(review).describe(form));
            }
        }
    }
}
