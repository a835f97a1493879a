//! Amounts of money and rates: whole numbers of their last digit, never binary floating point.

use crate::session::value::Value;

/// Digits behind the point of an amount of money.
pub const CENTS: u8 = 2;
/// Digits behind the point of a tax or a discount.
pub const RATE: u8 = 4;

/// A whole number.
///
/// # Errors
/// If the value is none.
pub fn integer(value: &Value<'_>) -> Result<i64, String> {
    scaled(value, 0)
}

/// A decimal as a whole number of its last digit, of which it has `scale` behind the point. An
/// engine that keeps decimals as binary floating point is read by the nearest one.
///
/// # Errors
/// If the value is no number, or has more digits.
pub fn scaled(value: &Value<'_>, scale: u8) -> Result<i64, String> {
    let strange = || format!("{value:?} is no decimal with {scale} digits behind the point");
    let read = match value {
        Value::Exact(coefficient, own) => rescaled(*coefficient, i32::from(scale) - own),
        Value::Float(number) => {
            let units = (number * 10_f64.powi(scale.into())).round();
            (units.abs() < 9e15).then_some(units as i64)
        }
        _ => None,
    };
    read.ok_or_else(strange)
}

fn rescaled(coefficient: i128, by: i32) -> Option<i64> {
    let factor = 10_i128.checked_pow(by.unsigned_abs())?;
    let rescaled = if by >= 0 {
        coefficient.checked_mul(factor)?
    } else {
        (coefficient % factor == 0).then_some(coefficient / factor)?
    };
    i64::try_from(rescaled).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_number_of_so_many_digits_is_refused() {
        let refused = |value: &Value<'_>| scaled(value, CENTS).unwrap_err();
        assert!(refused(&Value::Exact(1, 3)).contains("2 digits"));
        assert!(refused(&Value::Null).contains("Null"));
        assert!(refused(&Value::Float(f64::NAN)).contains("NaN"));
        assert!(refused(&Value::Exact(i128::MAX, 0)).contains("no decimal"));
        assert_eq!(integer(&Value::Exact(70, 1)), Ok(7));
    }

    proptest! {
        #[test]
        fn a_decimal_is_read_whatever_zeros_it_came_with(units in -10_000_000_i64..10_000_000, zeros in 0..6) {
            let coefficient = i128::from(units) * 10_i128.pow(zeros as u32);
            prop_assert_eq!(scaled(&Value::Exact(coefficient, 2 + zeros), CENTS), Ok(units));
            prop_assert_eq!(scaled(&Value::Float(units as f64 / 100.0), CENTS), Ok(units));
        }
    }
}
