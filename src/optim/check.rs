//! Range checks for options: each names the option and the value it refused.

use crate::error::Error;

fn ensure(ok: bool, option: &str, value: f64, range: &str) -> Result<(), Error> {
    if ok {
        return Ok(());
    }
    Err(Error::invalid(format!("{option} must be {range}, got {value}")))
}

/// A finite number, zero or more.
pub(crate) fn non_negative(option: &str, value: f64) -> Result<(), Error> {
    ensure(value.is_finite() && value >= 0.0, option, value, "finite and at least 0")
}

/// A finite number greater than zero.
pub(crate) fn positive(option: &str, value: f64) -> Result<(), Error> {
    ensure(value.is_finite() && value > 0.0, option, value, "finite and greater than 0")
}

/// A decay rate: at least 0 and less than 1.
pub(crate) fn rate(option: &str, value: f64) -> Result<(), Error> {
    ensure((0.0..1.0).contains(&value), option, value, "at least 0 and less than 1")
}
