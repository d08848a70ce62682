//! The words of the command line: those of the process, or those that the interpreter of Python gives.

use std::ffi::OsString;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the words, of which the first is the program, once and before [`words`] is called.
pub fn set_words(words: Vec<OsString>) {
    WORDS.get_or_init(|| words);
}

/// The words, of which the first is the program.
pub fn words() -> &'static [OsString] {
    WORDS.get_or_init(|| std::env::args_os().collect())
}
