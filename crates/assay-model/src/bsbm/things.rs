//! What there is to know of a thing, drawn by its number.

use super::dates::{Day, TODAY};
use super::iris::Thing;
use super::purpose::{Purpose, sequence};
use super::words::Text;
use super::world::World;
use crate::random::{SplitMix, uniform};

/// Words of texts: fewest and most.
const LABEL: (i64, i64) = (1, 3);
const COMMENT: (i64, i64) = (20, 50);
const PRODUCT_COMMENT: (i64, i64) = (50, 150);
const PROPERTY: (i64, i64) = (3, 15);
const TITLE: (i64, i64) = (4, 15);
const REVIEW: (i64, i64) = (50, 200);
/// Largest value of a numeric property.
const NUMERIC_MAX: u32 = 2_000;
const DELIVERY_DAYS_MAX: u32 = 21;
/// Price in cents: least and most.
const PRICE: (i64, i64) = (500, 1_000_000);
const RATING_MAX: u64 = 10;
/// Of 65,536 ratings, so many are given: seventy of a hundred.
const RATED: u64 = 45_875;
/// Days that types and features, producers, and products were published on: first and last.
const PUBLISHED_TYPES: (Day, Day) = (Day::of(2000, 6, 20), Day::of(2000, 7, 22));
const PUBLISHED_PRODUCERS: (Day, Day) = (Day::of(2000, 8, 20), Day::of(2005, 7, 22));
const PUBLISHED_PRODUCTS: (Day, Day) = (Day::of(2000, 10, 20), Day::of(2007, 1, 22));
const PUBLISHED_PERSONS: (Day, Day) = (TODAY, Day::of(2008, 9, 22));
/// Days before today within which offers and vendors, and reviews, came.
const OFFER_DAYS: i32 = 97;
const REVIEW_DAYS: i32 = 365;
/// Numbers of 64 bits that say which features a product has: more than any type has features.
const FEATURE_WORDS: usize = 5;
/// The lower bit of each pair.
const PAIRS: u64 = 0x5555_5555_5555_5555;

/// A country: its number in [`COUNTRIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Country(u8);

/// Codes of countries, and the languages that are written there.
const COUNTRIES: [(&str, &str); 10] = [
    ("US", "en"),
    ("GB", "en"),
    ("JP", "ja"),
    ("CN", "zh"),
    ("DE", "de"),
    ("FR", "fr"),
    ("ES", "es"),
    ("RU", "ru"),
    ("KR", "ko"),
    ("AT", "de"),
];
/// Countries of twenty things.
const OF_TWENTY: [u8; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9];

impl Country {
    /// A country: the United States in forty cases of a hundred.
    pub fn draw(random: &mut SplitMix) -> Self {
        Self(OF_TWENTY[uniform(random, (0, 19)) as usize])
    }

    /// Code of ISO 3166.
    pub const fn code(self) -> &'static str {
        COUNTRIES[self.0 as usize].0
    }

    /// Language tag of texts that are written there.
    pub const fn language(self) -> &'static str {
        COUNTRIES[self.0 as usize].1
    }
}

/// A product type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductType {
    /// From 1, the root.
    pub number: u32,
    /// The type above; the root has none.
    pub parent: Option<u32>,
    /// Its name.
    pub label: Text,
    /// What is said of it.
    pub comment: Text,
    /// When it was published.
    pub published: Day,
}

/// A feature that products can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub label: Text,
    /// What is said of it.
    pub comment: Text,
    /// When it was published.
    pub published: Day,
}

/// A producer or a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Company {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub label: Text,
    /// What is said of it.
    pub comment: Text,
    /// Where it is.
    pub country: Country,
    /// When it was published.
    pub published: Day,
}

/// A product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// From 1.
    pub number: u32,
    /// Its producer.
    pub producer: u32,
    /// Its type, a leaf of the tree.
    pub product_type: u32,
    /// Its name.
    pub label: Text,
    /// What is said of it.
    pub comment: Text,
    /// Numeric properties 1 to 6.
    pub numeric: [Option<u32>; 6],
    /// Textual properties 1 to 6.
    pub textual: [Option<Text>; 6],
    /// Which features of its type, of the type above and so on it has: a pair of bits each.
    features: [u64; FEATURE_WORDS],
    /// When it was published.
    pub published: Day,
}

/// How many things that not every product has a product has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyCounts {
    /// Features.
    pub features: u32,
    /// Numeric and textual properties.
    pub properties: u32,
}

/// An offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// From 1.
    pub number: u32,
    /// What is offered.
    pub product: u32,
    /// The product's producer.
    pub producer: u32,
    /// Who offers it.
    pub vendor: u32,
    /// In cents of US dollars.
    pub price_cents: u32,
    /// First day.
    pub valid_from: Day,
    /// Last day.
    pub valid_to: Day,
    /// How long delivery takes.
    pub delivery_days: u32,
    /// When it was published.
    pub published: Day,
}

/// A person who writes reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Person {
    /// From 1.
    pub number: u32,
    /// The rating site.
    pub site: u32,
    /// The name.
    pub name: Text,
    /// Random bits in place of a digest of 160 bits.
    pub mailbox: [u64; 3],
    /// Where the person lives.
    pub country: Country,
    /// When the person's data were published.
    pub published: Day,
}

/// A review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Review {
    /// From 1.
    pub number: u32,
    /// What it is of.
    pub product: u32,
    /// The product's producer.
    pub producer: u32,
    /// Who wrote it.
    pub person: u32,
    /// The rating site.
    pub site: u32,
    /// When it was written.
    pub written: Day,
    /// Its title.
    pub title: Text,
    /// What it says.
    pub text: Text,
    /// Where the person lives, whose language it is written in.
    pub country: Country,
    /// Ratings 1 to 4, from 1 to 10.
    pub ratings: [Option<u32>; 4],
    /// When it was published.
    pub published: Day,
}

/// A day between two, both included.
fn day(random: &mut SplitMix, (first, last): (Day, Day)) -> Day {
    Day(uniform(random, (first.0.into(), last.0.into())) as i32)
}

/// One of the days before today.
fn day_before(random: &mut SplitMix, days: i32) -> Day {
    day(random, (TODAY.plus(-days), TODAY.plus(-1)))
}

/// Which of the properties 1 to 6 a product has, numeric ones in the lower bits, from one number.
/// The first three are always there; of 4 to 6 one of three kinds of products has all of 4 and 5,
/// the others have them more or less often.
const fn properties(drawn: u64) -> (u32, u32) {
    let kind = ((drawn >> 32) * 5) >> 32;
    let bits = drawn as u32;
    let half = bits & 0b11;
    let quarter = bits >> 2 & bits >> 4 & 0b11;
    let half_of_six = bits >> 6 & 0b11;
    let (four, five, six) = match kind {
        0 | 1 => (0b11, 0b11, 0),
        2 => (half, quarter, 0),
        _ => (0, quarter, half_of_six),
    };
    (
        0b111 | (four & 1) << 3 | (five & 1) << 4 | (six & 1) << 5,
        0b111 | (four >> 1) << 3 | (five >> 1) << 4 | (six >> 1) << 5,
    )
}

impl World {
    /// A product type.
    pub fn product_type(&self, number: u32) -> ProductType {
        let mut random = sequence(self.seed, Purpose::ProductType, number);
        ProductType {
            number,
            parent: self.hierarchy().parent(number),
            label: Text::draw(&mut random, LABEL),
            comment: Text::draw(&mut random, COMMENT),
            published: day(&mut random, PUBLISHED_TYPES),
        }
    }

    /// A feature.
    pub fn feature(&self, number: u32) -> Feature {
        let mut random = sequence(self.seed, Purpose::Feature, number);
        Feature {
            number,
            label: Text::draw(&mut random, LABEL),
            comment: Text::draw(&mut random, COMMENT),
            published: day(&mut random, PUBLISHED_TYPES),
        }
    }

    /// A producer.
    pub fn producer(&self, number: u32) -> Company {
        let mut random = sequence(self.seed, Purpose::Producer, number);
        let published = day(&mut random, PUBLISHED_PRODUCERS);
        company(number, published, &mut random)
    }

    /// A vendor.
    pub fn vendor(&self, number: u32) -> Company {
        let mut random = sequence(self.seed, Purpose::Vendor, number);
        let published = day_before(&mut random, OFFER_DAYS);
        company(number, published, &mut random)
    }

    /// A product.
    pub fn product(&self, number: u32) -> Product {
        self.product_by(number, self.producer_of(number))
    }

    /// How many features and properties a product has, without drawing the rest of it.
    pub fn property_counts(&self, product: u32) -> PropertyCounts {
        let (_, (numeric, textual), features) = self.product_shape(product).1;
        PropertyCounts {
            features: features.iter().map(|some| some.count_ones()).sum(),
            properties: numeric.count_ones() + textual.count_ones(),
        }
    }

    /// Type, properties and features of a product, and the sequence that draws the rest.
    #[expect(clippy::type_complexity, reason = "it is taken apart where it is asked for")]
    fn product_shape(&self, number: u32) -> (SplitMix, (u32, (u32, u32), [u64; FEATURE_WORDS])) {
        let mut random = sequence(self.seed, Purpose::Product, number);
        let leaves = self.hierarchy().leaves();
        let place = self.bells.falling.number(random.next_u64(), leaves.end() - leaves.start() + 1);
        let product_type = leaves.start() + place - 1;
        let has = properties(random.next_u64());
        let mut left = self.hierarchy().features_upwards_count(product_type);
        let features = [(); FEATURE_WORDS].map(|()| {
            let here = left.min(32);
            left -= here;
            let drawn = random.next_u64();
            let mask = if here == 32 { u64::MAX } else { (1 << (2 * here)) - 1 };
            drawn & (drawn >> 1) & PAIRS & mask
        });
        (random, (product_type, has, features))
    }

    pub(super) fn product_by(&self, number: u32, producer: u32) -> Product {
        let (mut random, (product_type, (numeric, textual), features)) = self.product_shape(number);
        Product {
            number,
            producer,
            product_type,
            label: Text::draw(&mut random, LABEL),
            comment: Text::draw(&mut random, PRODUCT_COMMENT),
            numeric: std::array::from_fn(|place| {
                let drawn = random.next_u64();
                (numeric >> place & 1 == 1).then(|| self.bells.falling.number(drawn, NUMERIC_MAX))
            }),
            textual: std::array::from_fn(|place| {
                let drawn = Text::draw(&mut random, PROPERTY);
                (textual >> place & 1 == 1).then_some(drawn)
            }),
            features,
            published: day(&mut random, PUBLISHED_PRODUCTS),
        }
    }

    /// The features that a product has.
    pub fn features_had(&self, product: &Product) -> impl Iterator<Item = u32> {
        let features = product.features;
        let possible = self.hierarchy().features_upwards(product.product_type).enumerate();
        possible.filter_map(move |(place, feature)| {
            (features[place / 32] >> (2 * (place % 32)) & 1 == 1).then_some(feature)
        })
    }

    /// An offer.
    pub fn offer(&self, number: u32) -> Offer {
        let mut random = sequence(self.seed, Purpose::Offer, number);
        let product = self.bells.demand.number(random.next_u64(), self.products());
        self.offer_of(number, self.vendor_of(number), (product, self.producer_of(product)), random)
    }

    pub(super) fn offer_of(
        &self,
        number: u32,
        vendor: u32,
        (product, producer): (u32, u32),
        mut random: SplitMix,
    ) -> Offer {
        let published = day_before(&mut random, OFFER_DAYS);
        Offer {
            number,
            product,
            producer,
            vendor,
            price_cents: uniform(&mut random, PRICE) as u32,
            valid_from: published.plus(-(uniform(&mut random, (0, 90)) as i32)),
            valid_to: published.plus(uniform(&mut random, (7, 90)) as i32),
            delivery_days: self.bells.delivery.number(random.next_u64(), DELIVERY_DAYS_MAX),
            published,
        }
    }

    /// The country of a person.
    fn country_of(&self, person: u32) -> (Country, SplitMix) {
        let mut random = sequence(self.seed, Purpose::Person, person);
        (Country::draw(&mut random), random)
    }

    /// A person.
    pub fn person(&self, number: u32) -> Person {
        let (country, mut random) = self.country_of(number);
        Person {
            number,
            site: self.site_of_person(number),
            name: Text::draw(&mut random, (1, 1)),
            mailbox: [(); 3].map(|()| random.next_u64()),
            country,
            published: day(&mut random, PUBLISHED_PERSONS),
        }
    }

    /// A review.
    pub fn review(&self, number: u32) -> Review {
        let (mut random, ratings) = self.ratings(number);
        let product = self.bells.demand.number(random.next_u64(), self.products());
        let person = self.person_of(number);
        self.review_of(number, person, (product, self.producer_of(product)), (random, ratings))
    }

    /// How many ratings a review has, without drawing the rest of it.
    pub fn ratings_count(&self, review: u32) -> u32 {
        self.ratings(review).1.iter().flatten().count() as u32
    }

    pub(super) fn ratings(&self, review: u32) -> (SplitMix, [Option<u32>; 4]) {
        let mut random = sequence(self.seed, Purpose::Review, review);
        let (given, stars) = (random.next_u64(), random.next_u64());
        let of_four = |drawn: u64, place: usize| drawn >> (16 * place) & 0xFFFF;
        let ratings = std::array::from_fn(|place| {
            let rating = ((of_four(stars, place) * RATING_MAX) >> 16) as u32 + 1;
            (of_four(given, place) < RATED).then_some(rating)
        });
        (random, ratings)
    }

    pub(super) fn review_of(
        &self,
        number: u32,
        person: u32,
        (product, producer): (u32, u32),
        (mut random, ratings): (SplitMix, [Option<u32>; 4]),
    ) -> Review {
        let written = day_before(&mut random, REVIEW_DAYS);
        Review {
            number,
            product,
            producer,
            person,
            site: self.site_of_person(person),
            written,
            title: Text::draw(&mut random, TITLE),
            text: Text::draw(&mut random, REVIEW),
            country: self.country_of(person).0,
            ratings,
            published: day(&mut random, (written, TODAY.plus(-1))),
        }
    }
}

fn company(number: u32, published: Day, random: &mut SplitMix) -> Company {
    Company {
        number,
        label: Text::draw(random, LABEL),
        comment: Text::draw(random, COMMENT),
        country: Country::draw(random),
        published,
    }
}

impl Product {
    /// The product, to be named.
    pub const fn thing(&self) -> Thing {
        Thing::Product(self.number, self.producer)
    }
}
