//! What worlds are made of, against the distributions that are published.

use std::collections::HashSet;

use super::*;

const PRODUCTS: u32 = 2_785;

fn world() -> World {
    World::new(PRODUCTS, SEED).unwrap()
}

/// Mean of what is drawn of things 1 to `count`.
fn mean(count: u32, value: impl Fn(u32) -> f64) -> f64 {
    (1..=count).map(value).sum::<f64>() / f64::from(count)
}

#[test]
fn each_thing_belongs_to_one() {
    let world = world();
    let mut products = 0;
    for producer in 1..=world.producers() {
        for product in world.products_of(producer) {
            products += 1;
            assert_eq!((product, world.producer_of(product)), (products, producer));
        }
    }
    assert_eq!(products, world.products());
    let mut reviews = 0;
    for person in 1..=world.persons() {
        for review in world.reviews_of(person) {
            reviews += 1;
            assert_eq!((review, world.person_of(review)), (reviews, person));
            assert_eq!(world.site_of(review), world.site_of_person(person));
        }
    }
    assert_eq!((reviews, world.offers()), (27_850, 55_700));
    let offers: usize = (1..=world.vendors()).map(|vendor| world.offers_of(vendor).count()).sum();
    assert_eq!(offers, 55_700);
}

#[test]
fn the_smallest_world_has_everything() {
    let world = World::new(1, SEED).unwrap();
    assert_eq!((world.producers(), world.vendors(), world.rating_sites()), (1, 1, 1));
    assert!(world.persons() >= 1);
    assert_eq!((world.offer(20).product, world.review(10).product), (1, 1));
    assert!(World::new(0, SEED).is_err() && World::new(PRODUCTS_MAX + 1, SEED).is_err());
    assert!(World::of_scale(1.5, SEED).is_err() && World::of_scale(f64::NAN, SEED).is_err());
}

#[test]
fn ratings_and_countries_come_as_often_as_published() {
    let world = world();
    let ratings = mean(world.reviews(), |number| f64::from(world.ratings_count(number)));
    assert!((ratings / 4.0 - 0.7).abs() < 0.005, "{ratings}");
    let of = |code: &str| {
        mean(world.reviews(), |review| f64::from(world.review(review).country.code() == code))
    };
    for (code, share) in [("US", 0.4), ("CN", 0.1), ("AT", 0.05)] {
        assert!((of(code) - share).abs() < 0.03, "{code}: {}", of(code));
    }
}

#[test]
fn products_have_the_published_properties() {
    let world = world();
    let products: Vec<Product> = (1..=PRODUCTS).map(|number| world.product(number)).collect();
    let has = |place: usize| {
        let some = products.iter().filter(|one| one.numeric[place].is_some()).count();
        some as f64 / f64::from(PRODUCTS)
    };
    for (place, share) in [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.5), (4, 0.55), (5, 0.2)] {
        assert!((has(place) - share).abs() < 0.03, "property {}: {}", place + 1, has(place));
    }
    for product in &products {
        let counts = world.property_counts(product.number);
        let features: HashSet<u32> = world.features_had(product).collect();
        assert_eq!(features.len() as u32, counts.features);
        let possible: HashSet<u32> =
            world.hierarchy().features_upwards(product.product_type).collect();
        assert!(features.is_subset(&possible));
        assert!(world.hierarchy().leaves().contains(&product.product_type));
        let there = |some: usize| some as u32;
        assert_eq!(
            there(product.numeric.iter().flatten().count())
                + there(product.textual.iter().flatten().count()),
            counts.properties
        );
        assert!(product.numeric.iter().flatten().all(|value| (1..=2_000).contains(value)));
    }
    let possible = mean(PRODUCTS, |one| {
        f64::from(world.hierarchy().features_upwards_count(products[one as usize - 1].product_type))
    });
    let had = mean(PRODUCTS, |one| f64::from(world.property_counts(one).features));
    assert!((had / possible - 0.25).abs() < 0.01, "{had} of {possible}");
}

#[test]
fn offers_keep_within_their_bounds() {
    let world = world();
    for number in 1..=world.offers() {
        let offer = world.offer(number);
        assert!((1..=PRODUCTS).contains(&offer.product));
        assert!((500..=1_000_000).contains(&offer.price_cents));
        assert!((TODAY.plus(-97)..TODAY).contains(&offer.published));
        assert!((0..=90).contains(&(offer.published.0 - offer.valid_from.0)));
        assert!((7..=90).contains(&(offer.valid_to.0 - offer.published.0)));
        assert!((1..=21).contains(&offer.delivery_days));
    }
    let price = mean(world.offers(), |number| f64::from(world.offer(number).price_cents));
    assert!((price / 100.0 - 5_002.5).abs() < 50.0, "{price}");
    let delivery = mean(world.offers(), |number| f64::from(world.offer(number).delivery_days));
    assert!((delivery - 3.6).abs() < 0.3, "{delivery}");
}

#[test]
fn reviews_come_within_a_year() {
    let world = world();
    for number in 1..=world.reviews() {
        let review = world.review(number);
        assert!((TODAY.plus(-365)..TODAY).contains(&review.written));
        assert!((review.written..TODAY).contains(&review.published));
        assert!((4..=15).contains(&review.title.word_count()));
        assert!((50..=200).contains(&review.text.word_count()));
    }
}

#[test]
fn another_seed_gives_another_world() {
    let (one, other) = (world(), World::new(PRODUCTS, SEED + 1).unwrap());
    assert_ne!(one.product(1), other.product(1));
    assert_eq!(one.product(1), world().product(1));
}

#[test]
fn things_are_named_as_in_published_queries() {
    assert_eq!(
        Thing::Product(345, 12).iri(),
        "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/dataFromProducer12/Product345"
    );
    assert_eq!(Thing::ProductType(7).iri(), format!("{INSTANCES}ProductType7"));
    assert_eq!(Thing::Person(9, 1).iri(), format!("{INSTANCES}dataFromRatingSite1/Reviewer9"));
}

#[test]
fn updates_bring_products_that_are_not_there() {
    let world = world();
    let (mut subjects, mut offers, mut lines) = (HashSet::new(), 0, 0);
    for number in PRODUCTS + 1..=PRODUCTS + 300 {
        let text = world.update_triples(number);
        assert!(text.starts_with(&format!("<{INSTANCES}dataFromProducer")));
        assert!(text.ends_with(" .\n"));
        assert!(text.contains(&format!("/Product{number}> ")));
        let here: HashSet<&str> =
            text.lines().map(|line| line.split(' ').next().unwrap()).collect();
        offers += here.iter().filter(|subject| subject.contains("/Offer")).count();
        lines += text.lines().collect::<HashSet<_>>().len();
        assert_eq!(text.lines().count(), text.lines().collect::<HashSet<_>>().len());
        for subject in here {
            assert!(subjects.insert(subject.to_owned()), "{subject}");
        }
    }
    assert!((1_200..1_500).contains(&offers), "{offers}");
    assert!(lines > 300 * 60, "{lines}");
    let subject =
        |number: u32| format!("<{}>", Thing::Offer(number, world.vendor_of(number)).iri());
    assert!((1..=world.offers()).all(|number| !subjects.contains(&subject(number))));
}
