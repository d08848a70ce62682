//! Values of options and their parsers.

use longmatch::{CompileError, EngineSpec, Engines, Fib, Rib, parse_bytes};

use crate::output::thousands;

/// The names of a list, which commas divide: a name with commas is in quotation marks, `"a,b"=name` if it gets another.
pub fn names(parts: &[String]) -> Vec<String> {
    let mut names = Vec::<String>::new();
    for part in parts {
        let is_open = |name: &String| name.starts_with('"') && name.matches('"').count() == 1;
        match names.last_mut().filter(|name| is_open(name)) {
            Some(name) => *name = format!("{name},{part}"),
            None => names.push(part.clone()),
        }
    }
    let bare = |name: String| match name.strip_prefix('"').and_then(|name| name.split_once('"')) {
        Some((inner, rest)) if inner.contains(',') => inner.to_owned() + rest,
        _ => name,
    };
    names.into_iter().map(bare).collect()
}

/// Parses a number that is at least one.
pub fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number, at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

/// Maximum number of threads: the CPUs in Linux's usual affinity mask, by which each thread is
/// pinned to a CPU. The stacks take 2 GiB of address space.
const MAX_THREADS: usize = 1024;
/// Parses a number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    at_most(text, MAX_THREADS)
}

/// Parses a number from one to `most`.
pub fn at_most(text: &str, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => {
            let most = thousands(most as u64);
            Err(format!("expected a whole number, at least 1 and at most {most}"))
        }
    }
}

/// Parses a duration in seconds, at most a day.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}

/// Parses a number of bytes such as 4G.
pub fn size(text: &str) -> Result<u64, &'static str> {
    parse_bytes(text).ok_or("expected a number of bytes above 0, optionally followed by K, M or G")
}

/// Returns the error if a family lacks the engine, or the engine the option. Compiles an empty
/// table, which costs little; other errors show with the real table.
pub fn unsupported<F: Engines>(spec: &EngineSpec) -> Option<CompileError> {
    match Fib::compile(&Rib::<F>::new(), spec.clone()) {
        Err(error @ (CompileError::Option(_) | CompileError::Family { .. })) => Some(error),
        _ => None,
    }
}
