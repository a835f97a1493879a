//! How many things there are, and who belongs to whom.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use super::bell::Bell;
use super::hierarchy::Hierarchy;
use super::purpose::{Purpose, sequence};

/// The seed of the data that are loaded where no other one is asked for.
pub const SEED: u64 = 20_080_620;
/// The largest number of products: IRIs and rows have 32-bit numbers.
pub const PRODUCTS_MAX: u32 = 10_000_000;

/// Offers and reviews of a product, on average.
const OFFERS_A_PRODUCT: u32 = 20;
const REVIEWS_A_PRODUCT: u32 = 10;
/// Averages of what a producer, a vendor, a rating site and a person have.
const PRODUCTS_A_PRODUCER: f64 = 50.0;
const OFFERS_A_VENDOR: f64 = 2_000.0;
const REVIEWS_A_SITE: f64 = 10_000.0;
const REVIEWS_A_PERSON: f64 = 20.0;
/// They are distributed normally, with a third of the average as deviation.
const DEVIATIONS: f64 = 3.0;

/// A number of products that no world has.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} products: BSBM is scaled by whole products, from 1 to {PRODUCTS_MAX}")]
pub struct WorldError(pub f64);

/// All things of a scale: they are numbered from 1, and each is drawn when it is asked for.
pub struct World {
    pub(super) seed: u64,
    products: u32,
    hierarchy: Hierarchy,
    /// The last product of each producer, the last offer of each vendor, the last review of each
    /// rating site and of each person, the last person of each rating site.
    producers: Vec<u32>,
    vendors: Vec<u32>,
    sites: Vec<u32>,
    persons: Vec<u32>,
    site_persons: Vec<u32>,
    pub(super) bells: &'static Bells,
}

/// Distributions that things are drawn from.
pub(super) struct Bells {
    /// Of a producer's products and their like: the average is at 3.
    shares: Bell,
    /// Of types and numeric properties: half of a bell.
    pub falling: Bell,
    /// Of products that offers and reviews are for.
    pub demand: Bell,
    /// Of days of delivery.
    pub delivery: Bell,
}

impl Bells {
    /// They are the same for every world.
    fn get() -> &'static Self {
        static BELLS: OnceLock<Bells> = OnceLock::new();
        BELLS.get_or_init(|| Self {
            // Nothing bounds a share from above in the reference: one of 30,000 is beyond this.
            shares: Bell::new(DEVIATIONS, 0.0, DEVIATIONS + 4.0),
            falling: Bell::new(0.0, 0.0, 2.0),
            demand: Bell::new(2.0, 0.0, 4.0),
            delivery: Bell::new(2.0, 0.0, 14.2),
        })
    }

    /// A share of which there are `average` on average.
    fn share(&self, random: u64, average: f64) -> u32 {
        (self.shares.value(random) / DEVIATIONS * average) as u32
    }
}

impl World {
    /// The world of so many products.
    pub fn new(products: u32, seed: u64) -> Result<Self, WorldError> {
        if !(1..=PRODUCTS_MAX).contains(&products) {
            return Err(WorldError(f64::from(products)));
        }
        let bells = Bells::get();
        let ends = |purpose, whole, average| {
            let mut random = sequence(seed, purpose, 0);
            cut(whole, || bells.share(random.next_u64(), average) + 1)
        };
        let producers = ends(Purpose::Producers, products, PRODUCTS_A_PRODUCER);
        let vendors = ends(Purpose::Vendors, products * OFFERS_A_PRODUCT, OFFERS_A_VENDOR);
        let sites = ends(Purpose::RatingSites, products * REVIEWS_A_PRODUCT, REVIEWS_A_SITE);
        let hierarchy = Hierarchy::new(products, seed);
        let (persons, site_persons) = (Vec::new(), Vec::new());
        let mut world = Self {
            seed,
            products,
            hierarchy,
            producers,
            vendors,
            sites,
            persons,
            site_persons,
            bells,
        };
        world.cut_persons();
        Ok(world)
    }

    /// The world of the data of a workload's scale.
    pub fn of_scale(scale: f64, seed: u64) -> Result<Self, WorldError> {
        if scale.fract() != 0.0 || !(1.0..=f64::from(PRODUCTS_MAX)).contains(&scale) {
            return Err(WorldError(scale));
        }
        Self::new(scale as u32, seed)
    }

    /// Persons write for one rating site, and may write nothing.
    fn cut_persons(&mut self) {
        let mut random = sequence(self.seed, Purpose::Persons, 0);
        let mut review = 0;
        for &last in &self.sites {
            while review < last {
                review = last.min(review + self.bells.share(random.next_u64(), REVIEWS_A_PERSON));
                self.persons.push(review);
            }
            self.site_persons.push(self.persons.len() as u32);
        }
    }

    /// How many products there are.
    pub const fn products(&self) -> u32 {
        self.products
    }

    /// How many offers there are.
    pub const fn offers(&self) -> u32 {
        self.products * OFFERS_A_PRODUCT
    }

    /// How many reviews there are.
    pub const fn reviews(&self) -> u32 {
        self.products * REVIEWS_A_PRODUCT
    }

    /// How many producers there are.
    pub const fn producers(&self) -> u32 {
        self.producers.len() as u32
    }

    /// How many vendors there are.
    pub const fn vendors(&self) -> u32 {
        self.vendors.len() as u32
    }

    /// How many rating sites there are.
    pub const fn rating_sites(&self) -> u32 {
        self.sites.len() as u32
    }

    /// How many persons there are.
    pub const fn persons(&self) -> u32 {
        self.persons.len() as u32
    }

    /// How many things there are that facts are known of.
    pub fn things(&self) -> u64 {
        let of_types = self.hierarchy.types() + self.hierarchy.features();
        let of_companies = self.producers() + self.vendors();
        let of_products = self.products + self.offers() + self.reviews();
        [of_types, of_companies, of_products, self.persons()].map(u64::from).iter().sum()
    }

    /// How many facts are known of them: lines of N-Triples. Looks at each product and review.
    pub fn triples(&self) -> u64 {
        let each = |count: u32, facts: u64| u64::from(count) * facts;
        // The root is no type's subclass.
        let types = each(self.hierarchy.types(), 6) - 1 + each(self.hierarchy.features(), 5);
        let companies = each(self.producers() + self.vendors(), 7);
        let products = (1..=self.products).map(|product| {
            let counts = self.property_counts(product);
            u64::from(7 + self.hierarchy.depth() + counts.features + counts.properties)
        });
        let ratings = (1..=self.reviews()).map(|review| u64::from(self.ratings_count(review)));
        types
            + companies
            + products.sum::<u64>()
            + each(self.offers(), 10)
            + each(self.persons(), 6)
            + each(self.reviews(), 8)
            + ratings.sum::<u64>()
    }

    /// How many features products have, all together.
    pub fn features_had_count(&self) -> u64 {
        (1..=self.products).map(|product| u64::from(self.property_counts(product).features)).sum()
    }

    /// Product types and features.
    pub const fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The producer of a product.
    pub fn producer_of(&self, product: u32) -> u32 {
        owner(&self.producers, product)
    }

    /// The products of a producer.
    pub fn products_of(&self, producer: u32) -> RangeInclusive<u32> {
        owned(&self.producers, producer)
    }

    /// The vendor of an offer.
    pub fn vendor_of(&self, offer: u32) -> u32 {
        owner(&self.vendors, offer)
    }

    /// The offers of a vendor.
    pub fn offers_of(&self, vendor: u32) -> RangeInclusive<u32> {
        owned(&self.vendors, vendor)
    }

    /// The rating site of a review.
    pub fn site_of(&self, review: u32) -> u32 {
        owner(&self.sites, review)
    }

    /// The person who wrote a review.
    pub fn person_of(&self, review: u32) -> u32 {
        owner(&self.persons, review)
    }

    /// The reviews of a person, which may be none.
    pub fn reviews_of(&self, person: u32) -> RangeInclusive<u32> {
        owned(&self.persons, person)
    }

    /// The rating site that a person writes for.
    pub fn site_of_person(&self, person: u32) -> u32 {
        owner(&self.site_persons, person)
    }
}

/// The last of each share of a whole, the last share being what is left.
fn cut(whole: u32, mut share: impl FnMut() -> u32) -> Vec<u32> {
    let (mut ends, mut end) = (Vec::new(), 0);
    while end < whole {
        end = whole.min(end + share());
        ends.push(end);
    }
    ends
}

fn owner(ends: &[u32], number: u32) -> u32 {
    ends.partition_point(|&end| end < number) as u32 + 1
}

fn owned(ends: &[u32], owner: u32) -> RangeInclusive<u32> {
    let owner = owner as usize;
    let before = if owner == 1 { 0 } else { ends[owner - 2] };
    before + 1..=ends[owner - 1]
}
