//! What a terminal enters: its warehouse, and random numbers of its own.

use std::collections::BTreeMap;

use assay_model::tpcc::{
    A_CUSTOMER, A_ITEM, A_LAST, CUSTOMERS, DISTRICTS, ITEMS, c_run_last, last_name, nurand, uniform,
};
use assay_model::{SplitMix, split_mix};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::Asked;

/// Last names are numbered from 0 to this.
const LAST_NAME_MAX: i64 = 999;
/// What tells the constants of customers and items from other numbers of the seed.
const CONSTANTS: u64 = 0x6e75_7261_6e64;

/// The inputs of one operation of one session: a stream of random numbers that is named by seed,
/// session and operation.
pub struct Inputs {
    random: SplitMix,
    warehouses: i64,
    /// Warehouse and district of the terminal; `None`: they are drawn for each transaction.
    terminal: Option<(i64, i64)>,
    /// The constants C of the non-uniform numbers (clause 2.1.6), the same for all sessions.
    c_last: i64,
    c_customer: i64,
    c_item: i64,
}

fn parameter(parameters: &BTreeMap<String, i64>, name: &str) -> Result<i64, String> {
    parameters.get(name).copied().ok_or_else(|| format!("the parameter {name} is not given"))
}

impl Inputs {
    /// Inputs by the parameters `warehouses` and `terminals`: 1: session n is terminal n, ten a
    /// warehouse; 0, or not given: there are no terminals.
    ///
    /// # Errors
    /// If there is no warehouse.
    pub fn new(asked: Asked<'_>) -> Result<Self, String> {
        let warehouses = parameter(asked.parameters, "warehouses")?;
        if warehouses < 1 {
            return Err(format!("there are {warehouses} warehouses, and one is the least"));
        }
        let session = i64::from(asked.session);
        let place = (session / DISTRICTS % warehouses + 1, session % DISTRICTS + 1);
        let terminals = asked.parameters.get("terminals").copied().unwrap_or(0);
        let path = format!("{}/{}/inputs", asked.session, asked.operation.name);
        let mut constants = SplitMix::new(split_mix(asked.seed ^ CONSTANTS));
        Ok(Self {
            random: SplitMix::new(xxh3_64_with_seed(path.as_bytes(), asked.seed)),
            warehouses,
            terminal: (terminals != 0).then_some(place),
            c_last: c_run_last(asked.seed),
            c_customer: uniform(&mut constants, (0, A_CUSTOMER)),
            c_item: uniform(&mut constants, (0, A_ITEM)),
        })
    }

    /// A number from `low` to `high`, both included.
    pub fn uniform(&mut self, low: i64, high: i64) -> i64 {
        uniform(&mut self.random, (low, high))
    }

    /// Whether the event happened that has so many chances in a hundred.
    pub fn per_cent(&mut self, chances: i64) -> bool {
        self.uniform(1, 100) <= chances
    }

    /// The home warehouse.
    pub fn warehouse(&mut self) -> i64 {
        self.terminal.map_or_else(|| self.uniform(1, self.warehouses), |(warehouse, _)| warehouse)
    }

    /// The district of the terminal.
    pub fn own_district(&mut self) -> i64 {
        self.terminal.map_or_else(|| self.district(), |(_, district)| district)
    }

    /// Any district.
    pub fn district(&mut self) -> i64 {
        self.uniform(1, DISTRICTS)
    }

    /// A warehouse other than `home`, if there is another.
    pub fn other_warehouse(&mut self, home: i64) -> i64 {
        if self.warehouses == 1 {
            return home;
        }
        let other = self.uniform(1, self.warehouses - 1);
        other + i64::from(other >= home)
    }

    /// A customer's number.
    pub fn customer(&mut self) -> i64 {
        nurand(&mut self.random, A_CUSTOMER, self.c_customer, (1, CUSTOMERS))
    }

    /// An item's number.
    pub fn item(&mut self) -> i64 {
        nurand(&mut self.random, A_ITEM, self.c_item, (1, ITEMS))
    }

    /// Writes a customer's last name.
    pub fn last_name(&mut self, name: &mut String) {
        let number = nurand(&mut self.random, A_LAST, self.c_last, (0, LAST_NAME_MAX));
        last_name(number, name);
    }
}
