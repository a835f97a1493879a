//! Draws the values of queries as the reference driver of BSBM V3 does: products, offers, reviews,
//! producers and leaves of the tree of types equally likely, countries as often as things are of
//! them. Unlike there, features of a query are different from each other, and a type that is drilled
//! down to goes on from the one that was asked for last.
//!
//! What is drawn for has random numbers of its own, whichever registers a statement has, so that a
//! query draws the same in any language.

use std::sync::{Arc, Mutex, PoisonError};

use assay_model::bsbm::{Country, Day, SEED, World};
use assay_model::random::{SplitMix, uniform};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::registers::Register;
use crate::program::Asked;
use crate::session::value::Bound;

/// Seeds are mixed with it, so that the first values of seed 0, which checks are asked with, find
/// rows.
const SALT: u64 = 1_035;
/// Features and countries that a query names at most, and months.
const FEATURES: usize = 3;
const COUNTRIES: usize = 2;
const MONTHS: usize = 3;
/// Values of numeric properties that queries compare with: least and most.
const PROPERTY: (i64, i64) = (1, 500);
/// The first day on which the first month begins, after how many days it begins at most, and how
/// long a month is.
const FIRST_MONTH: Day = Day::of(2007, 6, 20);
const MONTH_BEGINS_MAX: i64 = 309;
const MONTH_DAYS: i32 = 28;
/// Sessions of a run at most: the products that they insert are numbered in turns.
const SESSIONS_MAX: u32 = 1_024;

/// The streams of random numbers of a session for an operation.
struct Streams {
    product: SplitMix,
    producer: SplitMix,
    offer: SplitMix,
    review: SplitMix,
    kind: SplitMix,
    features: SplitMix,
    drilled: SplitMix,
    numbers: SplitMix,
    countries: SplitMix,
    month: SplitMix,
}

impl Streams {
    fn new(asked: Asked<'_>) -> Self {
        let stream = |what: &str| {
            let path = format!("{}/{}/{what}", asked.session, asked.operation.name);
            SplitMix::new(xxh3_64_with_seed(path.as_bytes(), asked.seed ^ SALT))
        };
        Self {
            product: stream("product"),
            producer: stream("producer"),
            offer: stream("offer"),
            review: stream("review"),
            kind: stream("type"),
            features: stream("features"),
            drilled: stream("drilled"),
            numbers: stream("numbers"),
            countries: stream("countries"),
            month: stream("month"),
        }
    }
}

/// The inputs of one operation of a session, those that were drawn last.
pub struct Inputs {
    world: Arc<World>,
    streams: Streams,
    /// Whether types that are drilled down to begin with the root.
    from_root: bool,
    /// Types of a way to a leaf that are still to come, the leaf first.
    way: Vec<u32>,
    product: u32,
    producer: u32,
    offer: u32,
    review: u32,
    kind: u32,
    features: [u32; FEATURES],
    drilled: u32,
    numbers: [i64; 2],
    countries: [&'static str; COUNTRIES],
    months: [[u8; 10]; MONTHS],
    /// The number of the next product that is inserted; `None`: the operation inserts none.
    pub(super) inserted: Option<u32>,
    triples: String,
}

impl Inputs {
    /// Inputs of the world of the parameter `products`.
    ///
    /// # Errors
    /// If there is no such world, there are too many sessions, or too few features to be different.
    pub fn new(asked: Asked<'_>, registers: &[Register]) -> Result<Self, String> {
        let products =
            asked.parameters.get("products").ok_or("the parameter products is not given")?;
        let world = world(*products)?;
        if asked.session >= SESSIONS_MAX {
            return Err(format!("{SESSIONS_MAX} clients are the most that it draws for"));
        }
        let tree = world.hierarchy();
        let fewest = tree.leaves().map(|leaf| tree.features_upwards(leaf).count()).min();
        if fewest.unwrap_or(0) < FEATURES {
            return Err(format!("a type has fewer than {FEATURES} features"));
        }
        let inserts = registers.contains(&Register::Triples);
        let inserted = inserts.then(|| world.products() + 1 + asked.session);
        Ok(Self {
            streams: Streams::new(asked),
            from_root: !registers.contains(&Register::DrilledTypeBelowRoot),
            way: Vec::new(),
            product: 0,
            producer: 0,
            offer: 0,
            review: 0,
            kind: 0,
            features: [0; FEATURES],
            drilled: 0,
            numbers: [0; 2],
            countries: [""; COUNTRIES],
            months: [[0; 10]; MONTHS],
            inserted,
            triples: String::new(),
            world,
        })
    }

    /// Draws anew.
    pub fn draw(&mut self) {
        let Self { world, streams, .. } = self;
        self.product = one_of(&mut streams.product, (1, world.products()));
        self.producer = one_of(&mut streams.producer, (1, world.producers()));
        self.offer = one_of(&mut streams.offer, (1, world.offers()));
        self.review = one_of(&mut streams.review, (1, world.reviews()));
        let leaves = world.hierarchy().leaves();
        self.kind = one_of(&mut streams.kind, (*leaves.start(), *leaves.end()));
        self.numbers = [(); 2].map(|()| uniform(&mut streams.numbers, PROPERTY));
        self.countries = [(); COUNTRIES].map(|()| Country::draw(&mut streams.countries).code());
        let begins = uniform(&mut streams.month, (0, MONTH_BEGINS_MAX)) as i32;
        let mut month = FIRST_MONTH.plus(begins);
        for text in &mut self.months {
            *text = month.text();
            month = month.plus(MONTH_DAYS);
        }
        self.draw_features();
        self.drill_down();
        if let Some(product) = &mut self.inserted {
            let last = self.world.products() + self.world.updates_max();
            self.triples.clear();
            if *product <= last {
                self.triples = self.world.update_triples(*product);
                *product += SESSIONS_MAX;
            }
        }
    }

    /// Whether a product was to be drawn that is inserted, and there are no more numbers for any.
    pub const fn is_exhausted(&self) -> bool {
        self.inserted.is_some() && self.triples.is_empty()
    }

    /// Different features of the type: each of those that are left is as likely.
    fn draw_features(&mut self) {
        let mut left: Vec<u32> = self.world.hierarchy().features_upwards(self.kind).collect();
        for feature in &mut self.features {
            let last = left.len() as i64 - 1;
            let place = uniform(&mut self.streams.features, (0, last)) as usize;
            *feature = left.swap_remove(place);
        }
    }

    /// The next type below the one that was asked for last; from a leaf on anew, to another leaf.
    fn drill_down(&mut self) {
        if self.way.is_empty() {
            let tree = self.world.hierarchy();
            let (first, last) = tree.leaves().into_inner();
            let leaf = one_of(&mut self.streams.drilled, (first, last));
            self.way.extend(tree.upwards(leaf));
            if !self.from_root {
                self.way.pop();
            }
        }
        // A way has a leaf at least.
        self.drilled = self.way.pop().unwrap_or_default();
    }

    /// The value of a register.
    pub fn value(&self, register: Register) -> Bound<'_> {
        let number = match register {
            Register::Product => self.product,
            Register::ProducerOfProduct => self.world.producer_of(self.product),
            Register::Producer => self.producer,
            Register::Offer => self.offer,
            Register::VendorOfOffer => self.world.vendor_of(self.offer),
            Register::Review => self.review,
            Register::SiteOfReview => self.world.site_of(self.review),
            Register::Type => self.kind,
            Register::Feature(place) => self.features[place],
            Register::DrilledType | Register::DrilledTypeBelowRoot => self.drilled,
            Register::X => return Bound::Integer(self.numbers[0]),
            Register::Y => return Bound::Integer(self.numbers[1]),
            Register::Country(place) => return Bound::Text(self.countries[place]),
            Register::Month(place) => {
                let text = std::str::from_utf8(&self.months[place]);
                return Bound::Text(text.unwrap_or_default());
            }
            Register::Triples => return Bound::Text(&self.triples),
        };
        Bound::Integer(number.into())
    }
}

fn one_of(random: &mut SplitMix, (first, last): (u32, u32)) -> u32 {
    uniform(random, (first.into(), last.into())) as u32
}

/// The world of so many products: one for all sessions and operations.
fn world(products: i64) -> Result<Arc<World>, String> {
    static SHARED: Mutex<Option<Arc<World>>> = Mutex::new(None);
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*shared {
        Some(world) if i64::from(world.products()) == products => Ok(Arc::clone(world)),
        _ => {
            let made = World::of_scale(products as f64, SEED).map_err(|error| error.to_string())?;
            Ok(Arc::clone(shared.insert(Arc::new(made))))
        }
    }
}
