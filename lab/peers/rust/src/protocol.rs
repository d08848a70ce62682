//! The protocol of `docs/peers.md`, in modes `one` and `dependent`: none of the crates has calls for batches.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::time::Instant;

use crate::counting::held;
use crate::tables::{Peer, Table};

/// An address of the protocol's files.
trait Address: FromStr + Copy {
    const NAME: &'static str;
    const BYTES: usize;

    fn from_network(bytes: &[u8]) -> Option<Self>;
}

impl Address for Ipv4Addr {
    const NAME: &'static str = "ipv4";
    const BYTES: usize = 4;

    fn from_network(bytes: &[u8]) -> Option<Self> {
        <[u8; 4]>::try_from(bytes).ok().map(Self::from)
    }
}

impl Address for Ipv6Addr {
    const NAME: &'static str = "ipv6";
    const BYTES: usize = 16;

    fn from_network(bytes: &[u8]) -> Option<Self> {
        <[u8; 16]>::try_from(bytes).ok().map(Self::from)
    }
}

/// The loaded data of one family.
struct Side<T: Table> {
    table: Option<T>,
    keys: Vec<T::Key>,
}

/// Answers commands until `quit` or the end of standard input.
pub fn serve<P: Peer>(about: &str) -> io::Result<()> {
    let mut ipv4 = Side::<P::Ipv4> { table: None, keys: Vec::new() };
    let mut ipv6 = Side::<P::Ipv6> { table: None, keys: Vec::new() };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let (name, family) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let rest = words.next().unwrap_or_default();
        let answer = match (name, family) {
            ("quit", _) => return Ok(()),
            ("hello", _) => Ok(format!("longmatch-peer 1 ipv4,ipv6 one,dependent {about}")),
            (_, "ipv4") => ipv4.obey(name, rest),
            (_, "ipv6") => ipv6.obey(name, rest),
            _ => Err(format!("unknown command {name} {family}")),
        };
        let answer = answer.unwrap_or_else(|why| format!("error {why}"));
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

impl<T: Table<Address: Address>> Side<T> {
    fn obey(&mut self, name: &str, rest: &str) -> Result<String, String> {
        match name {
            "load" => self.load(rest),
            "keys" => self.set_keys(rest),
            "answer" => self.answer(rest),
            "time" => self.time(rest),
            _ => Err(format!("unknown command {name}")),
        }
    }

    fn load(&mut self, path: &str) -> Result<String, String> {
        self.table = None;
        let routes = read_routes::<T>(path)?;
        let count = routes.len();
        let parsed = count * size_of::<(T::Prefix, u32)>();
        let before = held();
        let began = Instant::now();
        let table = T::build(routes);
        let took = began.elapsed().as_nanos();
        // Building has freed the routes.
        let bytes = (held() + parsed).saturating_sub(before) + size_of::<T>();
        self.table = Some(table);
        Ok(format!("loaded {count} {took} {bytes}"))
    }

    fn set_keys(&mut self, path: &str) -> Result<String, String> {
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let addresses = bytes.chunks(T::Address::BYTES).map(T::Address::from_network);
        let keys: Option<_> = addresses.map(|address| address.map(T::key)).collect();
        self.keys = keys.ok_or("the file has half an address at its end")?;
        Ok(format!("keys {}", self.keys.len()))
    }

    fn answer(&self, rest: &str) -> Result<String, String> {
        let [mode, _, path] = words(rest)?;
        let table = self.ready(mode)?;
        let file = File::create(path).map_err(|error| format!("{path}: {error}"))?;
        let mut out = BufWriter::new(file);
        let answers = self.keys.iter().map(|key| table.lookup(key).unwrap_or(0));
        let written = answers.into_iter().try_for_each(|id| out.write_all(&id.to_le_bytes()));
        written.and_then(|()| out.flush()).map_err(|error| format!("{path}: {error}"))?;
        Ok(format!("answered {}", self.keys.len()))
    }

    fn time(&self, rest: &str) -> Result<String, String> {
        let [mode, _, start, lookups] = words(rest)?;
        let table = self.ready(mode)?;
        let number = |word: &str| word.parse::<usize>().map_err(|_| format!("{word}: no number"));
        let (mut start, mut lookups) = (number(start)?, number(lookups)?);
        if start >= self.keys.len() {
            return Err(format!("there are {} keys", self.keys.len()));
        }
        let walk = if mode == "dependent" { Self::walk_dependent } else { Self::walk };
        let began = Instant::now();
        let mut sum = 0;
        while lookups > 0 {
            let part = lookups.min(self.keys.len() - start);
            sum ^= walk(table, &self.keys[start..start + part]);
            lookups -= part;
            start = 0;
        }
        Ok(format!("timed {} {sum}", began.elapsed().as_nanos()))
    }

    fn walk(table: &T, keys: &[T::Key]) -> u32 {
        keys.iter().fold(0, |sum, key| sum ^ table.lookup(key).unwrap_or(0))
    }

    /// Computes the position of each key from the previous answer.
    fn walk_dependent(table: &T, keys: &[T::Key]) -> u32 {
        // The compiler does not know that it is 0.
        let zero = black_box(0);
        let (mut sum, mut answer) = (0, 0);
        for i in 0..keys.len() {
            answer = table.lookup(&keys[i ^ (answer & zero) as usize]).unwrap_or(0);
            sum ^= answer;
        }
        sum
    }

    fn ready(&self, mode: &str) -> Result<&T, String> {
        if mode != "one" && mode != "dependent" {
            return Err(format!("no mode {mode} here"));
        }
        let table = self.table.as_ref().filter(|_| !self.keys.is_empty());
        table.ok_or_else(|| format!("{} needs a table and keys first", T::Address::NAME))
    }
}

fn words<const N: usize>(text: &str) -> Result<[&str; N], String> {
    let words: Vec<_> = text.splitn(N, ' ').collect();
    words.try_into().map_err(|_| format!("expected {N} more words"))
}

/// The routes of a file, in memory that is as long as they are many.
fn read_routes<T: Table<Address: Address>>(path: &str) -> Result<Vec<(T::Prefix, u32)>, String> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let mut routes = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| format!("{path}: {error}"))?;
        routes.push(route::<T>(&line).ok_or_else(|| format!("`{line}` is not a route"))?);
    }
    routes.shrink_to_fit();
    Ok(routes)
}

fn route<T: Table<Address: Address>>(line: &str) -> Option<(T::Prefix, u32)> {
    let (prefix, id) = line.split_once(' ')?;
    let (address, len) = prefix.split_once('/')?;
    Some((T::prefix(address.parse().ok()?, len.parse().ok()?)?, id.parse().ok()?))
}
