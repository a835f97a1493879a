//! The customer of a Payment or an Order-Status: by number, or by last name, of which there are
//! several in a district.

use super::inputs::Inputs;

/// Of a hundred customers so many are chosen by last name (clauses 2.5.1.2 and 2.6.1.2).
const BY_NAME_PER_CENT: i64 = 60;

/// The customer that is asked for.
#[derive(Default)]
pub struct Customer {
    /// Whether the last name is what was entered.
    pub by_name: bool,
    /// The last name, where it was entered.
    pub last: String,
    /// The number that was entered, or that of the one found.
    pub id: i64,
    candidates: Vec<i64>,
}

impl Customer {
    /// Draws one.
    pub fn draw(&mut self, inputs: &mut Inputs) {
        self.by_name = inputs.per_cent(BY_NAME_PER_CENT);
        if self.by_name {
            inputs.last_name(&mut self.last);
        } else {
            self.id = inputs.customer();
        }
    }

    /// Goes back to what was entered.
    pub fn begin(&mut self) {
        self.candidates.clear();
    }

    /// One of that name, in the order of first names.
    pub fn add_candidate(&mut self, id: i64) {
        self.candidates.push(id);
    }

    /// Takes the one in the middle: of n the n/2-th, rounded up, from 1.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn choose(&mut self) -> Result<(), String> {
        let middle = self.candidates.len().div_ceil(2);
        let chosen = middle.checked_sub(1).and_then(|place| self.candidates.get(place));
        self.id = *chosen.ok_or_else(|| format!("no customer is called {}", self.last))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_customer_in_the_middle_is_taken() {
        for (count, chosen) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 4)] {
            let mut customer = Customer::default();
            (1..=count).for_each(|id| customer.add_candidate(id));
            customer.choose().unwrap();
            assert_eq!(customer.id, chosen, "of {count}");
        }
        let refused = Customer { last: "BARBARBAR".into(), ..Customer::default() }.choose();
        assert!(refused.unwrap_err().contains("BARBARBAR"));
    }
}
