//! What an update brings: a product that the data do not have, with offers and reviews of it.

use super::ntriples::NTriples;
use super::purpose::{Purpose, sequence};
use super::world::World;
use crate::random::{SplitMix, uniform};

/// Offers and reviews of such a product on average. The reference holds back the last products of
/// its data, which are in less demand than others: 20 and 10 times the density of their demand.
const OFFERS: f64 = 4.5;
const REVIEWS: f64 = 2.25;
/// e to the power of minus these averages.
const NO_OFFER: f64 = 0.011_108_996_538_242_306;
const NO_REVIEW: f64 = 0.105_399_224_561_864_33;
/// Bytes of a product with its offers and reviews, about.
const BYTES: usize = 32 << 10;
/// Numbers that are kept for the offers of one product, and for its reviews.
const NUMBERS: u32 = 32;

impl World {
    /// How many products updates can bring: offers have 32-bit numbers.
    pub const fn updates_max(&self) -> u32 {
        (u32::MAX - self.offers()) / NUMBERS - 1
    }

    /// Facts of product `number`, which follows the last one of the data ([`World::products`]), and
    /// of its offers and reviews, as lines of N-Triples. Producer, vendors and persons are of the
    /// data. No two products have a fact in common, as far as [`World::updates_max`].
    pub fn update_triples(&self, number: u32) -> String {
        let mut random = sequence(self.seed, Purpose::Update, number);
        let mut out = NTriples::with_capacity(BYTES);
        let place = number.saturating_sub(self.products() + 1);
        let one_of =
            |random: &mut SplitMix, count: u32| uniform(random, (1, i64::from(count))) as u32;
        let producer = one_of(&mut random, self.producers());
        self.product_by(number, producer).describe(self, &mut out);
        for offer in 1..=poisson(&mut random, OFFERS, NO_OFFER) {
            let numbered = self.offers() + place * NUMBERS + offer;
            let vendor = one_of(&mut random, self.vendors());
            let rest = sequence(self.seed, Purpose::Offer, numbered);
            self.offer_of(numbered, vendor, (number, producer), rest).describe(&mut out);
        }
        for review in 1..=poisson(&mut random, REVIEWS, NO_REVIEW) {
            let numbered = self.reviews() + place * NUMBERS + review;
            let person = one_of(&mut random, self.persons());
            let rest = self.ratings(numbered);
            self.review_of(numbered, person, (number, producer), rest).describe(&mut out);
        }
        String::from_utf8(out.lines.bytes).expect("N-Triples of ours are ASCII")
    }
}

/// A number of events of which there are `mean` on average, at most [`NUMBERS`]; `none` is the
/// probability that there is none.
fn poisson(random: &mut SplitMix, mean: f64, none: f64) -> u32 {
    let mut left = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut events, mut probability) = (0, none);
    while left >= probability && events < NUMBERS {
        left -= probability;
        events += 1;
        probability *= mean / f64::from(events);
    }
    events
}
