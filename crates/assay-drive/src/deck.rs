//! Cards of a mix: each deck is dealt to its end, so that shares are exact then, in an order of its
//! own. A deck is a function of the phase's seed and the deck's number: all workers know the same
//! decks without asking each other.

use assay_model::{SplitMix, split_mix};

/// A deck as one worker holds it.
#[derive(Clone, Debug, Default)]
pub struct Hand {
    /// Number of the deck that is shuffled here.
    deck: Option<u64>,
    /// Places in the phase's list of operations.
    cards: Vec<u16>,
}

impl Hand {
    /// Cards by the weights of a phase. All memory is taken here.
    pub fn new(weights: &[u32]) -> Self {
        let mut cards = Vec::with_capacity(weights.iter().map(|weight| *weight as usize).sum());
        lay_out(&mut cards, weights);
        Self { deck: None, cards }
    }

    /// The place of the card that is dealt as number `number` of a phase.
    pub fn card(&mut self, number: u64, phase_seed: u64, weights: &[u32]) -> usize {
        let size = self.cards.len() as u64;
        let deck = number / size;
        if self.deck != Some(deck) {
            self.cards.clear();
            lay_out(&mut self.cards, weights);
            shuffle(&mut self.cards, split_mix(phase_seed ^ split_mix(deck)));
            self.deck = Some(deck);
        }
        usize::from(self.cards[(number % size) as usize])
    }
}

fn lay_out(cards: &mut Vec<u16>, weights: &[u32]) {
    for (place, weight) in weights.iter().enumerate() {
        cards.extend(std::iter::repeat_n(place as u16, *weight as usize));
    }
}

/// Fisher and Yates' shuffle in Durstenfeld's form (CACM 7, 1964, algorithm 235).
fn shuffle(cards: &mut [u16], seed: u64) {
    let mut random = SplitMix::new(seed);
    for last in (1..cards.len()).rev() {
        let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        cards.swap(last, other as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dealt(weights: &[u32], seed: u64, numbers: std::ops::Range<u64>) -> Vec<usize> {
        let mut hand = Hand::new(weights);
        numbers.map(|number| hand.card(number, seed, weights)).collect()
    }

    #[test]
    fn decks_are_shuffled_anew_and_follow_the_seed() {
        let weights = [45, 43, 4, 4, 4];
        let decks = dealt(&weights, 1, 0..200);
        assert_ne!(decks[..100], decks[100..]);
        assert!(!decks[..100].is_sorted());
        assert_eq!(decks, dealt(&weights, 1, 0..200));
        assert_ne!(decks, dealt(&weights, 2, 0..200));
    }

    #[test]
    fn each_card_comes_first_as_often_as_its_share() {
        let weights = [1, 3];
        let firsts = (0..4_000_u64).map(|deck| dealt(&weights, 5, 4 * deck..4 * deck + 1)[0]);
        let ones = firsts.filter(|card| *card == 0).count();
        assert!((900..1_100).contains(&ones), "{ones}");
    }

    proptest! {
        #[test]
        fn shares_are_exact_at_the_end_of_each_deck(
            weights in proptest::collection::vec(0..20_u32, 1..8), seed in any::<u64>(), deck in 0..1_000_u64,
        ) {
            let size: u32 = weights.iter().sum();
            prop_assume!(size > 0);
            let size = u64::from(size);
            let mut counts = vec![0; weights.len()];
            for card in dealt(&weights, seed, deck * size..(deck + 1) * size) {
                counts[card] += 1;
            }
            prop_assert_eq!(counts, weights);
        }

        #[test]
        fn a_card_is_the_same_whoever_deals_it(seed in any::<u64>(), number in 0..10_000_u64) {
            let weights = [10, 10, 1, 1, 1];
            let alone = dealt(&weights, seed, number..number + 1);
            prop_assert_eq!(alone[0], dealt(&weights, seed, 0..number + 1)[number as usize]);
        }
    }
}
