//! `longmatch set`: the algebra of lists of prefixes, addresses and ranges.

mod count;
mod covered;
mod diff;
mod dump;
mod input;
mod ip_set;
mod matrix;
mod output;
mod overlaps;

use std::path::Path;

use longmatch::set::{AddressCount, AddressSet};
use longmatch::{IpPrefix, Prefix};
use longmatch_feed::IpFamily;

use self::ip_set::IpSet;
use self::output::Printer;
use crate::args::{
    AggregateArgs, ComplementArgs, FormArgs, ListArgs, SetArgs, SetCommand, SetReadArgs, SplitArgs,
};
use crate::error::{CliError, Outcome, Status};
use crate::families::Families;
use crate::output::{grouped, thousands, warn};

/// Runs an operation.
///
/// # Errors
/// If a list cannot be read, or standard output not be written.
pub fn run(args: &SetArgs) -> Outcome {
    match &args.command {
        SetCommand::Aggregate(args) => aggregate(args),
        SetCommand::Union(args) => combine(&args.files, &args.read, &args.form, IpSet::union),
        SetCommand::Intersect(args) => {
            combine(&args.files, &args.read, &args.form, IpSet::intersection)
        }
        SetCommand::Difference(args) => {
            combine(&args.files, &args.read, &args.form, IpSet::difference)
        }
        SetCommand::Complement(args) => complement(args),
        SetCommand::Overlaps(args) => overlaps::run(args),
        SetCommand::Covered(args) => covered::run(args),
        SetCommand::Matrix(args) => matrix::run(args),
        SetCommand::Dump(args) => dump::run(args),
        SetCommand::Diff(args) => diff::run(args),
        SetCommand::Split(args) => split(args),
        SetCommand::Count(args) => count::run(args),
    }
}

/// Reads all lists as one.
fn all(args: &ListArgs) -> Result<(IpSet, u64), CliError> {
    let sets = match args.files.is_empty() {
        true => input::sets(&[Path::new("-")], &args.read)?,
        false => input::sets(&args.files, &args.read)?,
    };
    let entries = sets.iter().map(|(_, entries)| entries).sum();
    let sets = sets.into_iter().map(|(set, _)| set);
    Ok((sets.reduce(|all, set| all.union(&set)).unwrap_or_default(), entries))
}

fn print(set: &IpSet, form: &FormArgs, families: Families) -> Outcome {
    let mut printer = Printer::new(form, families)?;
    printer.set(set)?;
    printer.finish()?;
    Ok(Status::Ok)
}

/// Combines lists from the left.
fn combine(
    files: &[impl AsRef<Path> + Sync],
    read: &SetReadArgs,
    form: &FormArgs,
    operation: impl Fn(&IpSet, &IpSet) -> IpSet,
) -> Outcome {
    let sets = input::sets(files, read)?.into_iter().map(|(set, _)| set);
    let set = sets.reduce(|left, right| operation(&left, &right)).unwrap_or_default();
    print(&set, form, read.families.into())
}

fn aggregate(args: &AggregateArgs) -> Outcome {
    let (set, _) = all(&args.lists)?;
    let [ipv4, ipv6] =
        [args.max_length4, args.max_length6].map(|length| length.or(args.max_length));
    let rounded = IpSet {
        ipv4: ipv4.map_or_else(|| set.ipv4.clone(), |length| set.ipv4.rounded_out(length)),
        ipv6: ipv6.map_or_else(|| set.ipv6.clone(), |length| set.ipv6.rounded_out(length)),
    };
    let added = [
        ("IPv4", rounded.ipv4.count().checked_sub(set.ipv4.count())),
        ("IPv6", rounded.ipv6.count().checked_sub(set.ipv6.count())),
    ];
    for (family, added) in added {
        if let Some(added) = added.filter(|it| *it > AddressCount::default()) {
            let added = grouped(&added.to_string());
            warn(format_args!(
                "--max-length adds {added} {family} addresses to those of the lists"
            ));
        }
    }
    print(&rounded, &args.form, args.lists.read.families.into())
}

fn complement(args: &ComplementArgs) -> Outcome {
    let (set, _) = all(&args.lists)?;
    let families = Families::from(args.lists.read.families);
    let within = match (&args.within[..], args.lists.read.families.only()) {
        ([], Some(family)) => IpSet::whole(family == IpFamily::V4, family == IpFamily::V6),
        ([], None) => IpSet::whole(!set.ipv4.is_empty(), !set.ipv6.is_empty()),
        (prefixes, _) => {
            let prefixes = prefixes.iter().map(|prefix| prefix.unmapped());
            let within: IpSet = prefixes.filter(|prefix| families.keep(*prefix)).collect();
            if within.is_empty() {
                return Err(CliError::new(
                    "--within and -4 or -6 exclude each other: leave one out",
                ));
            }
            within
        }
    };
    if within.is_empty() {
        return Err(CliError::new(
            "the lists have no addresses, so their families are unknown: give --within, -4 or -6",
        ));
    }
    print(&within.difference(&set), &args.form, families)
}

fn split(args: &SplitArgs) -> Outcome {
    let (set, _) = all(&args.lists)?;
    let ipv4 = set.ipv4.split(args.length4.unwrap_or(0));
    let ipv6 = set.ipv6.split(args.length6.unwrap_or(0));
    let parts = [("--length4", ipv4.remaining()), ("--length6", ipv6.remaining())];
    let total: AddressCount = parts.iter().map(|(_, count)| *count).sum();
    if total > u128::from(args.limit).into() {
        let (option, _) = parts.iter().max_by_key(|(_, count)| *count).unwrap_or(&parts[0]);
        return Err(CliError::new(format!(
            "{option}: the lists have {} parts, more than --limit {}: use a shorter length, or \
             another limit",
            grouped(&total.to_string()),
            thousands(args.limit)
        )));
    }
    let mut printer = Printer::new(&args.form, args.lists.read.families.into())?;
    printer.prefixes(ipv4, ipv6)?;
    printer.finish()?;
    Ok(Status::Ok)
}

impl FromIterator<IpPrefix> for IpSet {
    fn from_iter<I: IntoIterator<Item = IpPrefix>>(prefixes: I) -> Self {
        let (mut ipv4, mut ipv6) = (Vec::<Prefix<_>>::new(), Vec::<Prefix<_>>::new());
        prefixes.into_iter().for_each(|prefix| match prefix {
            IpPrefix::V4(prefix) => ipv4.push(prefix),
            IpPrefix::V6(prefix) => ipv6.push(prefix),
        });
        Self { ipv4: AddressSet::from_iter(ipv4), ipv6: AddressSet::from_iter(ipv6) }
    }
}
