//! The facts as tables, with the names and columns of the reference's relational export.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::SchemaRef;
use assay_model::bsbm::{Company, Day, Object, Page, World, write_lexical};

use crate::Parts;
use crate::columns::{
    self, Columns, Kind, batch, dates, decimal, moments, schema, whole, whole_or_null,
};

const DAY_US: i64 = 86_400_000_000;
const MONEY: (u8, i8) = (8, 2);
/// Who publishes types and features.
const INSTITUTION: i64 = 1;

const PRODUCTTYPE: Columns = &[
    ("nr", Kind::Whole),
    ("label", Kind::Text),
    ("comment", Kind::Text),
    ("parent", Kind::WholeOrNull),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const PRODUCTFEATURE: Columns = &[
    ("nr", Kind::Whole),
    ("label", Kind::Text),
    ("comment", Kind::Text),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const COMPANY: Columns = &[
    ("nr", Kind::Whole),
    ("label", Kind::Text),
    ("comment", Kind::Text),
    ("homepage", Kind::Text),
    ("country", Kind::Text),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const PRODUCT: Columns = &[
    ("nr", Kind::Whole),
    ("label", Kind::Text),
    ("comment", Kind::Text),
    ("producer", Kind::Whole),
    ("propertyNum1", Kind::WholeOrNull),
    ("propertyNum2", Kind::WholeOrNull),
    ("propertyNum3", Kind::WholeOrNull),
    ("propertyNum4", Kind::WholeOrNull),
    ("propertyNum5", Kind::WholeOrNull),
    ("propertyNum6", Kind::WholeOrNull),
    ("propertyTex1", Kind::TextOrNull),
    ("propertyTex2", Kind::TextOrNull),
    ("propertyTex3", Kind::TextOrNull),
    ("propertyTex4", Kind::TextOrNull),
    ("propertyTex5", Kind::TextOrNull),
    ("propertyTex6", Kind::TextOrNull),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const PRODUCTTYPEPRODUCT: Columns = &[("product", Kind::Whole), ("productType", Kind::Whole)];
const PRODUCTFEATUREPRODUCT: Columns = &[("product", Kind::Whole), ("productFeature", Kind::Whole)];
const OFFER: Columns = &[
    ("nr", Kind::Whole),
    ("product", Kind::Whole),
    ("producer", Kind::Whole),
    ("vendor", Kind::Whole),
    ("price", Kind::Decimal(MONEY.0, MONEY.1)),
    ("validFrom", Kind::Moment),
    ("validTo", Kind::Moment),
    ("deliveryDays", Kind::Whole),
    ("offerWebpage", Kind::Text),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const PERSON: Columns = &[
    ("nr", Kind::Whole),
    ("name", Kind::Text),
    ("mbox_sha1sum", Kind::Text),
    ("country", Kind::Text),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];
const REVIEW: Columns = &[
    ("nr", Kind::Whole),
    ("product", Kind::Whole),
    ("producer", Kind::Whole),
    ("person", Kind::Whole),
    ("reviewDate", Kind::Moment),
    ("title", Kind::Text),
    ("text", Kind::Text),
    ("language", Kind::Text),
    ("rating1", Kind::WholeOrNull),
    ("rating2", Kind::WholeOrNull),
    ("rating3", Kind::WholeOrNull),
    ("rating4", Kind::WholeOrNull),
    ("publisher", Kind::Whole),
    ("publishDate", Kind::Date),
];

type Numbers = RangeInclusive<u32>;

/// A table of the relational form.
pub struct Relation {
    world: Arc<World>,
    columns: Columns,
    /// Things that it has rows of, and those of a part.
    things: u32,
    a_part: u32,
    rows: u64,
    make: fn(&World, Numbers) -> Vec<ArrayRef>,
}

impl Relation {
    /// The table of this name, if there is one.
    pub fn named(name: &str, world: Arc<World>) -> Option<Self> {
        type Make = fn(&World, Numbers) -> Vec<ArrayRef>;
        let (columns, things, a_part, make): (Columns, u32, u32, Make) = match name {
            "producttype" => (PRODUCTTYPE, world.hierarchy().types(), 10_000, product_types),
            "productfeature" => (PRODUCTFEATURE, world.hierarchy().features(), 10_000, features),
            "producer" => (COMPANY, world.producers(), 10_000, producers),
            "product" => (PRODUCT, world.products(), 2_000, products),
            "producttypeproduct" => {
                (PRODUCTTYPEPRODUCT, world.products(), 50_000, types_of_products)
            }
            "productfeatureproduct" => {
                (PRODUCTFEATUREPRODUCT, world.products(), 5_000, features_of_products)
            }
            "vendor" => (COMPANY, world.vendors(), 10_000, vendors),
            "offer" => (OFFER, world.offers(), 20_000, offers),
            "person" => (PERSON, world.persons(), 20_000, persons),
            "review" => (REVIEW, world.reviews(), 3_000, reviews),
            _ => return None,
        };
        let rows = match name {
            "productfeatureproduct" => world.features_had_count(),
            // A product is of its type and of all types above.
            "producttypeproduct" => u64::from(things) * u64::from(world.hierarchy().depth() + 1),
            _ => u64::from(things),
        };
        Some(Self { world, columns, things, a_part, rows, make })
    }
}

impl Parts for Relation {
    fn schema(&self) -> SchemaRef {
        schema(self.columns)
    }

    fn parts(&self) -> u32 {
        self.things.div_ceil(self.a_part)
    }

    fn rows_expected(&self) -> u64 {
        self.rows
    }

    fn make(&self, part: u32) -> RecordBatch {
        let before = part * self.a_part;
        let numbers = before + 1..=self.things.min(before + self.a_part);
        batch(self.columns, (self.make)(&self.world, numbers))
    }
}

/// Texts of things.
fn texts<T>(of: &[T], text: impl Fn(&T) -> Object) -> ArrayRef {
    texts_or_null(of, |one| Some(text(one)))
}

/// Texts of things, of some of them.
fn texts_or_null<T>(of: &[T], text: impl Fn(&T) -> Option<Object>) -> ArrayRef {
    let (mut bytes, mut ends, mut there) = (Vec::new(), vec![0], Vec::with_capacity(of.len()));
    for one in of {
        let text = text(one);
        if let Some(text) = text {
            write_lexical(&mut bytes, text);
        }
        ends.push(bytes.len() as i32);
        there.push(text.is_some());
    }
    let nulls = there.contains(&false).then(|| NullBuffer::from(there));
    columns::texts(bytes, ends, nulls)
}

/// Numbers of things.
fn numbers<T>(of: &[T], number: impl Fn(&T) -> u32) -> ArrayRef {
    whole(of.iter().map(|one| i64::from(number(one))))
}

/// Numbers of things, of some of them.
fn numbers_or_null<T>(of: &[T], number: impl Fn(&T) -> Option<u32>) -> ArrayRef {
    whole_or_null(of.iter().map(|one| number(one).map(i64::from)))
}

/// Days of things.
fn days<T>(of: &[T], day: impl Fn(&T) -> Day) -> ArrayRef {
    dates(of.iter().map(|one| day(one).0))
}

/// When days of things begin.
fn begins<T>(of: &[T], day: impl Fn(&T) -> Day) -> ArrayRef {
    moments(of.iter().map(|one| i64::from(day(one).0) * DAY_US))
}

fn product_types(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.product_type(number)).collect();
    vec![
        numbers(&all, |one| one.number),
        texts(&all, |one| one.texts().0),
        texts(&all, |one| one.texts().1),
        numbers_or_null(&all, |one| one.parent),
        whole(all.iter().map(|_| INSTITUTION)),
        days(&all, |one| one.published),
    ]
}

fn features(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.feature(number)).collect();
    vec![
        numbers(&all, |one| one.number),
        texts(&all, |one| Object::Text(one.label)),
        texts(&all, |one| Object::Text(one.comment)),
        whole(all.iter().map(|_| INSTITUTION)),
        days(&all, |one| one.published),
    ]
}

fn producers(world: &World, range: Numbers) -> Vec<ArrayRef> {
    companies(&range.map(|number| world.producer(number)).collect::<Vec<_>>(), Page::Producer)
}

fn vendors(world: &World, range: Numbers) -> Vec<ArrayRef> {
    companies(&range.map(|number| world.vendor(number)).collect::<Vec<_>>(), Page::Vendor)
}

fn companies(all: &[Company], page: fn(u32) -> Page) -> Vec<ArrayRef> {
    vec![
        numbers(all, |one| one.number),
        texts(all, |one| Object::Text(one.label)),
        texts(all, |one| Object::Text(one.comment)),
        texts(all, |one| Object::Page(page(one.number))),
        texts(all, |one| Object::Country(one.country)),
        numbers(all, |one| one.number),
        days(all, |one| one.published),
    ]
}

fn products(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.product(number)).collect();
    let mut arrays = vec![
        numbers(&all, |one| one.number),
        texts(&all, |one| Object::Text(one.label)),
        texts(&all, |one| Object::Text(one.comment)),
        numbers(&all, |one| one.producer),
    ];
    arrays.extend((0..6).map(|place| numbers_or_null(&all, |one| one.numeric[place])));
    arrays.extend(
        (0..6).map(|place| texts_or_null(&all, |one| one.textual[place].map(Object::Text))),
    );
    arrays.push(numbers(&all, |one| one.producer));
    arrays.push(days(&all, |one| one.published));
    arrays
}

fn types_of_products(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let tree = world.hierarchy();
    let products = range.map(|number| world.product(number));
    let all: Vec<(u32, u32)> = products
        .flat_map(|one| tree.upwards(one.product_type).map(move |kind| (one.number, kind)))
        .collect();
    vec![numbers(&all, |pair| pair.0), numbers(&all, |pair| pair.1)]
}

fn features_of_products(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let products = range.map(|number| world.product(number));
    let all: Vec<(u32, u32)> = products
        .flat_map(|one| {
            let features: Vec<_> = world.features_had(&one).collect();
            features.into_iter().map(move |feature| (one.number, feature))
        })
        .collect();
    vec![numbers(&all, |pair| pair.0), numbers(&all, |pair| pair.1)]
}

fn offers(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.offer(number)).collect();
    vec![
        numbers(&all, |one| one.number),
        numbers(&all, |one| one.product),
        numbers(&all, |one| one.producer),
        numbers(&all, |one| one.vendor),
        decimal(MONEY, all.iter().map(|one| i64::from(one.price_cents))),
        begins(&all, |one| one.valid_from),
        begins(&all, |one| one.valid_to),
        numbers(&all, |one| one.delivery_days),
        texts(&all, |one| Object::Page(Page::Offer(one.number, one.vendor))),
        numbers(&all, |one| one.vendor),
        days(&all, |one| one.published),
    ]
}

fn persons(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.person(number)).collect();
    vec![
        numbers(&all, |one| one.number),
        texts(&all, |one| Object::Text(one.name)),
        texts(&all, |one| Object::Digest(one.mailbox)),
        texts(&all, |one| Object::Country(one.country)),
        numbers(&all, |one| one.site),
        days(&all, |one| one.published),
    ]
}

fn reviews(world: &World, range: Numbers) -> Vec<ArrayRef> {
    let all: Vec<_> = range.map(|number| world.review(number)).collect();
    let mut arrays = vec![
        numbers(&all, |one| one.number),
        numbers(&all, |one| one.product),
        numbers(&all, |one| one.producer),
        numbers(&all, |one| one.person),
        begins(&all, |one| one.written),
        texts(&all, |one| Object::Text(one.title)),
        texts(&all, |one| Object::Text(one.text)),
        texts(&all, |one| Object::Said(one.country.language())),
    ];
    arrays.extend((0..4).map(|place| numbers_or_null(&all, |one| one.ratings[place])));
    arrays.push(numbers(&all, |one| one.site));
    arrays.push(days(&all, |one| one.published));
    arrays
}
