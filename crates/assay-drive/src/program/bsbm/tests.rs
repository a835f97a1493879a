//! Values are drawn as they are specified, again for the same seed, and alike for both languages.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::bsbm::{SEED, World};
use assay_model::{ScriptOperation, ScriptStatement};

use super::{Query, open};
use crate::program::{Asked, Program};
use crate::session::value::Bound;

const PRODUCTS: i64 = 1_000;

/// An operation with one statement that binds these.
fn operation(name: &str, registers: &[&str]) -> ScriptOperation {
    let places = 0..registers.len() as u16;
    ScriptOperation {
        name: name.into(),
        statements: vec![ScriptStatement {
            text: String::new(),
            values: places.collect(),
            name: Some("query".into()),
            elements: None,
        }],
        draws: Vec::new(),
        program: Some("bsbm.query".into()),
        registers: registers.iter().map(|name| String::from(*name)).collect(),
        fixed: false,
        joint: false,
    }
}

fn opened(
    operation: &ScriptOperation,
    products: i64,
    (seed, session): (u64, u32),
) -> Result<Box<dyn Program>, String> {
    let parameters: BTreeMap<String, i64> = [("products".to_string(), products)].into();
    open("bsbm.query", Asked { operation, parameters: &parameters, seed, session }).unwrap()
}

/// The values of so many executions, as texts.
fn drawn(
    name: &str,
    registers: &[&str],
    (seed, session): (u64, u32),
    count: usize,
) -> Vec<Vec<String>> {
    let operation = operation(name, registers);
    let mut program = opened(&operation, PRODUCTS, (seed, session)).unwrap();
    let executions = (0..count).map(|_| {
        program.draw();
        program.begin();
        assert_eq!(program.next(), Ok(Some(0)));
        let values = (0..registers.len() as u16).map(|place| match program.value(place) {
            Bound::Integer(number) => number.to_string(),
            Bound::Text(text) => text.to_string(),
            other => panic!("{other:?}"),
        });
        let values = values.collect();
        assert_eq!(program.next(), Ok(None));
        values
    });
    executions.collect()
}

fn numbers(name: &str, register: &str, count: usize) -> Vec<u32> {
    let drawn = drawn(name, &[register], (1, 0), count);
    drawn.into_iter().map(|values| values[0].parse().unwrap()).collect()
}

fn world() -> World {
    World::of_scale(PRODUCTS as f64, SEED).unwrap()
}

#[test]
fn a_query_draws_the_same_whatever_else_its_text_names() {
    let both = ["producer_of_product", "product", "feature_2", "type", "x"];
    let sparql = drawn("q", &both, (7, 3), 50);
    let sql = drawn("q", &["type", "product", "x", "feature_2"], (7, 3), 50);
    for (one, other) in sparql.iter().zip(&sql) {
        assert_eq!(
            [&one[3], &one[1], &one[4], &one[2]],
            [&other[0], &other[1], &other[2], &other[3]]
        );
    }
    assert_eq!(sparql, drawn("q", &both, (7, 3), 50));
    for others in [
        drawn("q", &both, (8, 3), 50),
        drawn("q", &both, (7, 4), 50),
        drawn("r", &both, (7, 3), 50),
    ] {
        assert_ne!(sparql, others);
    }
}

#[test]
fn things_are_equally_likely() {
    for (register, count) in [("product", 1_000), ("offer", 20_000), ("review", 10_000)] {
        let drawn = numbers("q", register, 40_000);
        let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!(*least >= 1 && *most <= count, "{register}: {least} to {most}");
        let mut tenths = [0_u32; 10];
        for number in &drawn {
            tenths[((number - 1) * 10 / count) as usize] += 1;
        }
        // Of 4,000 in each tenth, five deviations are 300.
        assert!(
            tenths.iter().all(|tenth| (3_700..4_300).contains(tenth)),
            "{register}: {tenths:?}"
        );
    }
}

#[test]
fn owners_are_those_of_the_data() {
    let world = world();
    for (pair, owner) in [
        (["product", "producer_of_product"], World::producer_of as fn(&World, u32) -> u32),
        (["offer", "vendor_of_offer"], World::vendor_of),
        (["review", "site_of_review"], World::site_of),
    ] {
        for values in drawn("q", &pair, (1, 0), 200) {
            let (number, by): (u32, u32) = (values[0].parse().unwrap(), values[1].parse().unwrap());
            assert_eq!(owner(&world, number), by);
        }
    }
}

#[test]
fn features_are_different_ones_of_a_leaf_and_of_what_is_above_it() {
    let (world, mut above) = (world(), 0);
    let tree = world.hierarchy();
    for values in drawn("q", &["type", "feature_1", "feature_2", "feature_3"], (1, 0), 2_000) {
        let values: Vec<u32> = values.iter().map(|value| value.parse().unwrap()).collect();
        assert!(tree.leaves().contains(&values[0]));
        let possible: Vec<u32> = tree.features_upwards(values[0]).collect();
        assert!(values[1..].iter().all(|feature| possible.contains(feature)));
        assert_eq!(values[1..].iter().collect::<BTreeSet<_>>().len(), 3);
        let own = tree.features_of(values[0]);
        above += values[1..].iter().filter(|feature| !own.contains(feature)).count();
    }
    assert!((2_000..4_500).contains(&above), "{above} of 6,000 are of types above the leaf");
}

#[test]
fn a_flight_goes_from_the_root_to_a_leaf() {
    let world = world();
    let tree = world.hierarchy();
    let levels = tree.depth() as usize;
    for (register, first) in [("drilled_type", 0), ("drilled_type_below_root", 1)] {
        let drawn = numbers("q", register, 60 * (levels + 1 - first));
        let mut leaves = BTreeSet::new();
        for flight in drawn.chunks(levels + 1 - first) {
            assert_eq!(tree.level(flight[0]), first as u32);
            assert!(flight.windows(2).all(|pair| tree.parent(pair[1]) == Some(pair[0])));
            leaves.insert(*flight.last().unwrap());
        }
        assert!(leaves.len() > 20 && leaves.iter().all(|leaf| tree.leaves().contains(leaf)));
    }
}

#[test]
fn countries_come_as_often_as_things_are_of_them() {
    let drawn = drawn("q", &["country_1", "country_2"], (1, 0), 10_000);
    let of = |country: &str, place: usize| drawn.iter().filter(|one| one[place] == country).count();
    for place in [0, 1] {
        assert!((3_800..4_200).contains(&of("US", place)));
        assert!((900..1_100).contains(&of("CN", place)) && (400..600).contains(&of("AT", place)));
    }
    let same = drawn.iter().filter(|one| one[0] == one[1]).count();
    // 0.4² + 3 · 0.1² + 6 · 0.05² of them.
    assert!((1_900..2_200).contains(&same), "{same}");
}

#[test]
fn months_follow_each_other_after_28_days() {
    let drawn = drawn("q", &["month_0", "month_1", "month_2"], (1, 0), 5_000);
    let firsts: BTreeSet<&String> = drawn.iter().map(|one| &one[0]).collect();
    assert_eq!((firsts.len(), firsts.first().unwrap().as_str()), (310, "2007-06-20"));
    assert_eq!(firsts.last().unwrap().as_str(), "2008-04-24");
    let of_first = drawn.iter().find(|one| one[0] == "2007-06-20").unwrap();
    assert_eq!(of_first[1..], ["2007-07-18", "2007-08-15"]);
}

#[test]
fn numbers_that_properties_are_compared_with_are_from_1_to_500() {
    let drawn = drawn("q", &["x", "y"], (1, 0), 20_000);
    for place in [0, 1] {
        let values: BTreeSet<i64> = drawn.iter().map(|one| one[place].parse().unwrap()).collect();
        assert_eq!((values.len(), values.first(), values.last()), (500, Some(&1), Some(&500)));
    }
    assert!(drawn.iter().any(|one| one[0] != one[1]));
}

#[test]
fn no_product_is_inserted_twice() {
    let mut seen = BTreeSet::new();
    for session in 0..3 {
        for values in drawn("u1", &["triples"], (1, session), 5) {
            assert!(values[0].lines().all(|line| line.ends_with(" .")));
            for line in values[0].lines() {
                assert!(seen.insert(line.to_string()), "{line}");
            }
        }
    }
}

#[test]
fn what_is_inserted_ends_with_its_numbers() {
    let (operation, parameters) =
        (operation("u1", &["triples"]), [("products".to_string(), PRODUCTS)].into());
    let asked = Asked { operation: &operation, parameters: &parameters, seed: 1, session: 0 };
    let mut query = Query::open(asked).unwrap();
    let world = World::new(PRODUCTS as u32, SEED).unwrap();
    query.inputs.inserted = Some(world.products() + world.updates_max());
    query.draw();
    assert_eq!(query.next(), Ok(Some(0)));
    query.draw();
    query.begin();
    assert!(query.next().unwrap_err().contains("no more numbers"));
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |registers: &[&str], products, session| {
        opened(&operation("q", registers), products, (1, session)).err().unwrap()
    };
    assert!(refused(&["product", "colour"], PRODUCTS, 0).contains("\"colour\""));
    assert!(refused(&["product"], 0, 0).contains("0 products"));
    assert!(refused(&["product"], PRODUCTS, 1_024).contains("1024 clients"));
    let mut two = operation("q", &["product"]);
    two.statements.push(two.statements[0].clone());
    assert!(opened(&two, PRODUCTS, (1, 0)).err().unwrap().contains("one statement"));
}
