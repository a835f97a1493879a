//! Product types, a tree whose levels are numbered one after another from the root, and which
//! features each of them has.

use std::ops::{Range, RangeInclusive};

use super::purpose::{Purpose, sequence};
use crate::random::uniform;

/// Scales below this one have the tree of this one.
const PRODUCTS_LEAST: u32 = 10;
/// Features of the types of a level: this much at least and at most, times the level's number by
/// the sum of the numbers of all levels but the first.
const FEATURES: (i64, i64) = (35, 75);

/// The tree of product types. Types and features are numbered from 1; type 1 is the root.
pub struct Hierarchy {
    /// How many children the types of each level have, from the root's level on.
    branching: Vec<u32>,
    /// The last type of each level, from the root's level on.
    last: Vec<u32>,
    /// The last feature of each type, and 0 before the first type.
    features: Vec<u32>,
}

impl Hierarchy {
    /// The tree for so many products.
    pub fn new(products: u32, seed: u64) -> Self {
        let branching = branching(products.max(PRODUCTS_LEAST));
        let (mut last, mut level) = (vec![1], 1);
        for children in &branching {
            level *= children;
            last.push(last[last.len() - 1] + level);
        }
        let mut made = Self { branching, last, features: vec![0, 0] };
        made.deal_features(seed);
        made
    }

    fn deal_features(&mut self, seed: u64) {
        let mut random = sequence(seed, Purpose::Features, 0);
        let levels = self.branching.len() as i64;
        let sum = levels * (levels + 1) / 2 - 1;
        let mut features = 0;
        for number in 2..=self.types() {
            // Types that have children go by the level below theirs, as in the reference.
            let level = levels.min(i64::from(self.level(number)) + 1);
            let range = (FEATURES.0 * level / sum, FEATURES.1 * level / sum);
            features += uniform(&mut random, range) as u32;
            self.features.push(features);
        }
    }

    /// How many types there are.
    pub fn types(&self) -> u32 {
        self.last[self.last.len() - 1]
    }

    /// How many features there are.
    pub fn features(&self) -> u32 {
        self.features[self.features.len() - 1]
    }

    /// How many levels there are below the root: the level of the leaves.
    pub const fn depth(&self) -> u32 {
        self.branching.len() as u32
    }

    /// The types of a level; the root's is 0.
    pub fn of_level(&self, level: u32) -> RangeInclusive<u32> {
        let level = level as usize;
        let before = if level == 0 { 0 } else { self.last[level - 1] };
        before + 1..=self.last[level]
    }

    /// The types that products can have.
    pub fn leaves(&self) -> RangeInclusive<u32> {
        self.of_level(self.depth())
    }

    /// The level of a type; the root's is 0.
    pub fn level(&self, number: u32) -> u32 {
        self.last.partition_point(|&last| last < number) as u32
    }

    /// The type above; `None`: it is the root.
    pub fn parent(&self, number: u32) -> Option<u32> {
        let above = self.level(number).checked_sub(1)?;
        let place = number - self.of_level(above + 1).start();
        Some(self.of_level(above).start() + place / self.branching[above as usize])
    }

    /// The type itself, its parent, and so on to the root.
    pub fn upwards(&self, number: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(number), |&below| self.parent(below))
    }

    /// The features of a type alone. The root has none.
    pub fn features_of(&self, number: u32) -> Range<u32> {
        self.features[number as usize - 1] + 1..self.features[number as usize] + 1
    }

    /// How many features a product of this type can have.
    pub fn features_upwards_count(&self, number: u32) -> u32 {
        self.upwards(number).map(|number| self.features_of(number).len() as u32).sum()
    }

    /// The features that a product of this type can have: those of the type, of its parent, and so
    /// on.
    pub fn features_upwards(&self, number: u32) -> impl Iterator<Item = u32> {
        self.upwards(number).flat_map(|number| self.features_of(number))
    }
}

/// How many children the types of each level have: the first level's grow with the number of
/// digits of the number of products, the last one's go round with it.
fn branching(products: u32) -> Vec<u32> {
    let digits = f64::from(products).log10() as f32;
    let nearest = |number: f32| (number + 0.5).floor() as u32;
    let depth = nearest(digits / 2.0) + 1;
    let last = [2, 4, 8][nearest(digits * 3.0 / 2.0 + 1.0) as usize % 3];
    let below = (1..depth).map(|level| if level + 1 < depth { 8 } else { last });
    std::iter::once(2 * nearest(digits)).chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many types as the reference makes.
    #[test]
    fn the_tree_has_the_published_size() {
        for (products, types) in
            [(100, 21), (1_000, 151), (2_785, 151), (28_481, 585), (284_826, 2_011)]
        {
            let tree = Hierarchy::new(products, 1);
            assert_eq!(tree.types(), types, "{products} products");
        }
    }

    #[test]
    fn each_type_has_the_children_of_its_level() {
        let tree = Hierarchy::new(284_826, 1);
        assert_eq!((tree.parent(1), tree.depth(), tree.level(1)), (None, 4, 0));
        let mut children = vec![0; tree.types() as usize + 1];
        for number in 2..=tree.types() {
            let parent = tree.parent(number).unwrap();
            assert_eq!(tree.level(number), tree.level(parent) + 1);
            assert!(tree.parent(number - 1).is_none_or(|before| before <= parent));
            children[parent as usize] += 1;
        }
        for number in 1..=tree.types() {
            let level = tree.level(number);
            let expected = if level < tree.depth() { tree.branching[level as usize] } else { 0 };
            assert_eq!(children[number as usize], expected, "type {number}");
        }
        assert_eq!(*tree.leaves().end(), tree.types());
        assert_eq!(tree.upwards(tree.types()).count(), 5);
    }

    #[test]
    fn each_feature_belongs_to_one_type() {
        let tree = Hierarchy::new(1_000, 1);
        let all: Vec<u32> = (1..=tree.types()).flat_map(|one| tree.features_of(one)).collect();
        assert_eq!(all, (1..=tree.features()).collect::<Vec<_>>());
        assert!(tree.features_of(1).is_empty());
        for one in 2..=tree.types() {
            let level = tree.level(one).min(2) as usize;
            let (least, most) = [(0, 0), (14, 30), (21, 45)][level];
            assert!((least..=most).contains(&tree.features_of(one).len()), "type {one}");
        }
    }
}
