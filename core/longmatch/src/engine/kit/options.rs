//! Options of engines as text: read from a request, and printed as a variant.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use core::ops::RangeInclusive;

use super::{Batch, OptionError};

/// Reads the options of a request, in any order.
///
/// Each method takes the options that it understands and returns the value of the last.
/// [`Options::finish`] refuses those that no method has taken.
pub(crate) struct Options<'a> {
    engine: &'static str,
    expected: &'static str,
    /// The options not yet taken, in the order of the request.
    remaining: Vec<&'a String>,
}

impl<'a> Options<'a> {
    /// Starts reading. Errors name the engine and the options that it expects.
    pub fn new(engine: &'static str, options: &'a [String], expected: &'static str) -> Self {
        Self { engine, expected, remaining: options.iter().collect() }
    }

    /// Takes the options for which `read` returns a value.
    pub fn read<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut last = None;
        self.remaining.retain(|option| {
            let value = read(option);
            let known = value.is_some();
            last = value.or(last.take());
            !known
        });
        last
    }

    /// Takes an option without a value; returns whether it was there.
    pub fn flag(&mut self, flag: &str) -> bool {
        self.choice(&[(flag, ())]).is_some()
    }

    /// Takes options that exclude each other, given with their meanings.
    pub fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        self.read(|option| choices.iter().find(|(text, _)| *text == option).map(|(_, it)| *it))
    }

    /// Takes `key=value` where `parse` accepts the value.
    pub fn value<T>(&mut self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.read(|option| parse(option.strip_prefix(key)?.strip_prefix('=')?))
    }

    /// Takes `key=number` where the number is in a range.
    pub fn number(&mut self, key: &str, range: RangeInclusive<u8>) -> Option<u8> {
        self.value(key, |number| number.parse().ok().filter(|number| range.contains(number)))
    }

    /// Takes `batch=` and one of the engine's modes; [`Batch::Auto`] without the option.
    pub fn batch(&mut self, modes: &[Batch]) -> Batch {
        let mode = |name: &str| modes.iter().copied().find(|mode| mode.name() == name);
        self.value("batch", mode).unwrap_or_default()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Names the first option that no method has taken.
    pub fn finish(self) -> Result<(), OptionError> {
        let Self { engine, expected, remaining } = self;
        remaining.first().map_or(Ok(()), |option| {
            Err(OptionError { engine, option: String::clone(option), expected })
        })
    }
}

/// Prints the options that name a variant, joined by colons.
#[derive(Default)]
pub struct Variant(String);

impl Variant {
    /// Starts without options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an option; nothing where it is empty.
    pub fn option(mut self, option: &str) -> Self {
        if !self.0.is_empty() && !option.is_empty() {
            self.0.push(':');
        }
        self.0 += option;
        self
    }

    /// Adds an option if it is set.
    pub fn flag(self, flag: &str, set: bool) -> Self {
        self.option(if set { flag } else { "" })
    }

    /// Adds `key=value`.
    pub fn value(self, key: &str, value: impl Display) -> Self {
        self.option(&format!("{key}={value}"))
    }

    /// Adds `key=value` where there is a value.
    pub fn some(self, key: &str, value: Option<impl Display>) -> Self {
        value.into_iter().fold(self, |own, value| own.value(key, value))
    }

    /// Adds a number that is not the default.
    pub fn number(self, key: &str, number: u8, default: u8) -> Self {
        self.some(key, (number != default).then_some(number))
    }

    /// Adds a mode of batches other than [`Batch::Auto`].
    pub fn batch(self, mode: Batch) -> Self {
        if mode == Batch::Auto { self } else { self.value("batch", mode.name()) }
    }

    /// Returns the text.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: &[Batch] = &[Batch::Auto, Batch::Each];

    type Read = (Option<u8>, bool, Option<u8>, Batch);

    fn read(text: &str) -> Result<Read, OptionError> {
        let list: Vec<String> = text.split(':').map(String::from).collect();
        let mut options = Options::new("it", &list, "these");
        let read = (
            options.number("s", 3..=24),
            options.flag("basic"),
            options.choice(&[("entry=16", 16), ("entry=32", 32)]),
            options.batch(MODES),
        );
        options.finish().map(|()| read)
    }

    #[test]
    fn order_does_not_matter_and_the_last_counts() {
        let all = (Some(18), true, Some(32), Batch::Each);
        assert_eq!(read("s=18:basic:entry=32:batch=each"), Ok(all));
        assert_eq!(read("batch=each:entry=32:basic:s=18"), Ok(all));
        assert_eq!(read("s=3:batch=auto:entry=16:basic:s=18:entry=32:batch=each:basic"), Ok(all));
        assert_eq!(read("basic"), Ok((None, true, None, Batch::Auto)));
        assert_eq!(read("batch=each:batch=auto:s=24"), Ok((Some(24), false, None, Batch::Auto)));
    }

    #[test]
    fn the_first_unknown_option_is_the_error() {
        for (text, unknown) in [
            ("s=18:x:y", "x"),
            ("", ""),
            ("s=2", "s=2"),
            ("s=25:x", "s=25"),
            ("s=4:s=300:s=5", "s=300"),
            ("s=:basic=", "s="),
            ("basic:basic=:s=", "basic="),
            ("x=1:s", "x=1"),
            ("entry=8", "entry=8"),
            ("batch", "batch"),
            ("batch=flight", "batch=flight"),
        ] {
            let error = OptionError { engine: "it", option: unknown.into(), expected: "these" };
            assert_eq!(read(text), Err(error), "{text}");
        }
    }

    #[test]
    fn variants_are_read_as_they_are_printed() {
        let all = Variant::new().value("s", 18).flag("basic", true).option("entry=16");
        let all = all.batch(Batch::Each).finish();
        assert_eq!(all, "s=18:basic:entry=16:batch=each");
        assert_eq!(read(&all), Ok((Some(18), true, Some(16), Batch::Each)));
        let none = Variant::new().flag("basic", false).option("");
        assert_eq!(none.batch(Batch::Auto).finish(), "");
        let some = Variant::new().value("s", 16).flag("no", false).option("wide");
        assert_eq!(some.finish(), "s=16:wide");
    }
}
