//! What is said of each thing, in the order in which the reference says it, for any form of RDF.

use super::dates::Day;
use super::iris::Thing;
use super::padded::Padded;
use super::things::{Company, Country, Feature, Offer, Person, Product, ProductType, Review};
use super::words::Text;
use super::world::World;

/// A class or a property, as each form writes it.
#[derive(Debug)]
pub struct Name {
    /// `<http://...> `, with the blank behind it.
    pub full: Padded<96>,
    /// `bsbm:...`
    pub short: &'static str,
}

macro_rules! name {
    ($namespace:literal, $prefix:literal, $local:literal) => {{
        const NAME: Name = Name {
            full: Padded::new(concat!("<", $namespace, $local, "> ")),
            short: concat!($prefix, ":", $local),
        };
        &NAME
    }};
}

macro_rules! bsbm {
    ($local:literal) => {
        name!("http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/", "bsbm", $local)
    };
}

macro_rules! dc {
    ($local:literal) => {
        name!("http://purl.org/dc/elements/1.1/", "dc", $local)
    };
}

macro_rules! foaf {
    ($local:literal) => {
        name!("http://xmlns.com/foaf/0.1/", "foaf", $local)
    };
}

macro_rules! rdfs {
    ($local:literal) => {
        name!("http://www.w3.org/2000/01/rdf-schema#", "rdfs", $local)
    };
}

macro_rules! rev {
    ($local:literal) => {
        name!("http://purl.org/stuff/rev#", "rev", $local)
    };
}

const TYPE: &Name = name!("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf", "type");
const LABEL: &Name = rdfs!("label");
const COMMENT: &Name = rdfs!("comment");
const SUBCLASS: &Name = rdfs!("subClassOf");
const PUBLISHER: &Name = dc!("publisher");
const DATE: &Name = dc!("date");
const HOMEPAGE: &Name = foaf!("homepage");
const COUNTRY: &Name = bsbm!("country");
const NUMERIC: [&Name; 6] = [
    bsbm!("productPropertyNumeric1"),
    bsbm!("productPropertyNumeric2"),
    bsbm!("productPropertyNumeric3"),
    bsbm!("productPropertyNumeric4"),
    bsbm!("productPropertyNumeric5"),
    bsbm!("productPropertyNumeric6"),
];
const TEXTUAL: [&Name; 6] = [
    bsbm!("productPropertyTextual1"),
    bsbm!("productPropertyTextual2"),
    bsbm!("productPropertyTextual3"),
    bsbm!("productPropertyTextual4"),
    bsbm!("productPropertyTextual5"),
    bsbm!("productPropertyTextual6"),
];
const RATINGS: [&Name; 4] =
    [bsbm!("rating1"), bsbm!("rating2"), bsbm!("rating3"), bsbm!("rating4")];
/// Who publishes types and features.
const INSTITUTION: Thing = Thing::Institution(1);
/// Name and comment of the root of all product types.
pub const ROOT: (&str, &str) = ("Anything", "Whatever can be bought is of this type");

/// A page of the World Wide Web.
#[derive(Clone, Copy, Debug)]
pub enum Page {
    /// Of a producer.
    Producer(u32),
    /// Of a vendor.
    Vendor(u32),
    /// Of an offer, and its vendor.
    Offer(u32, u32),
}

/// What a property says of a thing.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    /// Another thing.
    Thing(Thing),
    /// A class.
    Class(&'static Name),
    /// A page.
    Page(Page),
    /// A country.
    Country(Country),
    /// A text.
    Text(Text),
    /// A text that is given.
    Said(&'static str),
    /// A text of type `xsd:string`.
    Typed(Text),
    /// A text in a language.
    Tongue(Text, &'static str),
    /// Forty hexadecimal digits.
    Digest([u64; 3]),
    /// A whole number.
    Integer(u32),
    /// An amount of US dollars, in cents.
    Dollars(u32),
    /// A day.
    Date(Day),
    /// The moment at which a day begins.
    Moment(Day),
}

/// Texts, one after another.
#[derive(Debug)]
pub struct Lines {
    /// The texts.
    pub bytes: Vec<u8>,
    /// Where the first begins, where it ends, where the second ends, and so on.
    pub ends: Vec<i32>,
}

impl Lines {
    /// Room for so many bytes, without any text.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: vec![0] }
    }

    /// What was added last ends here.
    pub fn end(&mut self) {
        self.ends.push(self.bytes.len() as i32);
    }
}

/// A form that facts are written in.
pub trait Form {
    /// Facts about a thing follow.
    fn begin(&mut self, subject: Thing);
    /// A fact about it.
    fn fact(&mut self, property: &'static Name, object: Object);
    /// There are no more of them.
    fn end(&mut self);
}

fn published<F: Form>(form: &mut F, by: Thing, on: Day) {
    form.fact(PUBLISHER, Object::Thing(by));
    form.fact(DATE, Object::Date(on));
    form.end();
}

impl ProductType {
    /// The name and the comment: the root's are given.
    pub fn texts(&self) -> (Object, Object) {
        if self.parent.is_some() {
            (Object::Text(self.label), Object::Text(self.comment))
        } else {
            (Object::Said(ROOT.0), Object::Said(ROOT.1))
        }
    }

    /// Says what it is.
    pub fn describe<F: Form>(&self, form: &mut F) {
        let (label, comment) = self.texts();
        form.begin(Thing::ProductType(self.number));
        form.fact(TYPE, Object::Class(bsbm!("ProductType")));
        form.fact(LABEL, label);
        form.fact(COMMENT, comment);
        if let Some(parent) = self.parent {
            form.fact(SUBCLASS, Object::Thing(Thing::ProductType(parent)));
        }
        published(form, INSTITUTION, self.published);
    }
}

impl Feature {
    /// Says what it is.
    pub fn describe<F: Form>(&self, form: &mut F) {
        form.begin(Thing::ProductFeature(self.number));
        form.fact(TYPE, Object::Class(bsbm!("ProductFeature")));
        form.fact(LABEL, Object::Text(self.label));
        form.fact(COMMENT, Object::Text(self.comment));
        published(form, INSTITUTION, self.published);
    }
}

impl Company {
    /// Says what it is, of a producer.
    pub fn describe_producer<F: Form>(&self, form: &mut F) {
        let page = Page::Producer(self.number);
        self.describe(form, Thing::Producer(self.number), bsbm!("Producer"), page);
    }

    /// Says what it is, of a vendor.
    pub fn describe_vendor<F: Form>(&self, form: &mut F) {
        let page = Page::Vendor(self.number);
        self.describe(form, Thing::Vendor(self.number), bsbm!("Vendor"), page);
    }

    fn describe<F: Form>(&self, form: &mut F, thing: Thing, class: &'static Name, page: Page) {
        form.begin(thing);
        form.fact(TYPE, Object::Class(class));
        form.fact(LABEL, Object::Text(self.label));
        form.fact(COMMENT, Object::Text(self.comment));
        form.fact(HOMEPAGE, Object::Page(page));
        form.fact(COUNTRY, Object::Country(self.country));
        published(form, thing, self.published);
    }
}

impl Product {
    /// Says what it is: of its type and of all types above, as data are made for published results
    /// (the reference's option for forward chaining), so that queries need not infer it.
    pub fn describe<F: Form>(&self, world: &World, form: &mut F) {
        let producer = Thing::Producer(self.producer);
        form.begin(self.thing());
        form.fact(TYPE, Object::Class(bsbm!("Product")));
        form.fact(LABEL, Object::Text(self.label));
        form.fact(COMMENT, Object::Text(self.comment));
        for kind in world.hierarchy().upwards(self.product_type) {
            form.fact(TYPE, Object::Thing(Thing::ProductType(kind)));
        }
        form.fact(bsbm!("producer"), Object::Thing(producer));
        for (property, value) in NUMERIC.into_iter().zip(self.numeric) {
            if let Some(value) = value {
                form.fact(property, Object::Integer(value));
            }
        }
        for (property, value) in TEXTUAL.into_iter().zip(self.textual) {
            if let Some(value) = value {
                form.fact(property, Object::Typed(value));
            }
        }
        for feature in world.features_had(self) {
            form.fact(bsbm!("productFeature"), Object::Thing(Thing::ProductFeature(feature)));
        }
        published(form, producer, self.published);
    }
}

impl Offer {
    /// Says what it is.
    pub fn describe<F: Form>(&self, form: &mut F) {
        let vendor = Thing::Vendor(self.vendor);
        form.begin(Thing::Offer(self.number, self.vendor));
        form.fact(TYPE, Object::Class(bsbm!("Offer")));
        form.fact(bsbm!("product"), Object::Thing(Thing::Product(self.product, self.producer)));
        form.fact(bsbm!("vendor"), Object::Thing(vendor));
        form.fact(bsbm!("price"), Object::Dollars(self.price_cents));
        form.fact(bsbm!("validFrom"), Object::Moment(self.valid_from));
        form.fact(bsbm!("validTo"), Object::Moment(self.valid_to));
        form.fact(bsbm!("deliveryDays"), Object::Integer(self.delivery_days));
        let page = Page::Offer(self.number, self.vendor);
        form.fact(bsbm!("offerWebpage"), Object::Page(page));
        published(form, vendor, self.published);
    }
}

impl Person {
    /// Says who it is.
    pub fn describe<F: Form>(&self, form: &mut F) {
        form.begin(Thing::Person(self.number, self.site));
        form.fact(TYPE, Object::Class(foaf!("Person")));
        form.fact(foaf!("name"), Object::Text(self.name));
        form.fact(foaf!("mbox_sha1sum"), Object::Digest(self.mailbox));
        form.fact(COUNTRY, Object::Country(self.country));
        published(form, Thing::RatingSite(self.site), self.published);
    }
}

impl Review {
    /// Says what it is.
    pub fn describe<F: Form>(&self, form: &mut F) {
        form.begin(Thing::Review(self.number, self.site));
        form.fact(TYPE, Object::Class(rev!("Review")));
        let product = Thing::Product(self.product, self.producer);
        form.fact(bsbm!("reviewFor"), Object::Thing(product));
        form.fact(rev!("reviewer"), Object::Thing(Thing::Person(self.person, self.site)));
        form.fact(bsbm!("reviewDate"), Object::Moment(self.written));
        form.fact(dc!("title"), Object::Text(self.title));
        form.fact(rev!("text"), Object::Tongue(self.text, self.country.language()));
        for (property, rating) in RATINGS.into_iter().zip(self.ratings) {
            if let Some(rating) = rating {
                form.fact(property, Object::Integer(rating));
            }
        }
        published(form, Thing::RatingSite(self.site), self.published);
    }
}
