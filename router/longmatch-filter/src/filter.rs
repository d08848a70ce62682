//! A filter in the kernel: its maps and its program.

use std::net::IpAddr;
use std::time::Duration;

use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Family, IpPrefix, Ipv4, Ipv6, Prefix, Rib};
use longmatch_bpf::sys::{self, Map, MapKind, MapSpec, Program, ProgramKind, Run};
use longmatch_bpf::{KernelFamily, ValueRanges};
use serde::{Deserialize, Serialize};

use crate::content::{Addresses, Content, End, Part, Parts};
use crate::counts::{Counts, Total};
use crate::error::FilterError;
use crate::layout::{BUCKET_BYTES, COUNTER_BYTES, COUNTERS, Counter, KEPT, ends};
use crate::policy::{Action, Decision, MAX_LISTS, Mask, Match, Policy, SCOPE};
use crate::program::{FilterProgram, Frames};
use crate::state::{STATE, State, cells};
use crate::tables::{self, Merged, Tables, VERSIONS};

/// Where packets are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// Received packets, before the network stack.
    Xdp,
    /// Received packets, by tc.
    Ingress,
    /// Sent packets, by tc.
    Egress,
}

impl Hook {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xdp => "xdp",
            Self::Ingress => "ingress",
            Self::Egress => "egress",
        }
    }
}

/// The properties of a filter that do not change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Where packets are filtered.
    pub hook: Hook,
    /// Whether frames begin with an Ethernet header; otherwise with that of IP.
    pub ethernet: bool,
    /// The lists and what they lead to.
    pub policy: Policy,
    /// Whether packets whose headers cannot be read are dropped.
    pub drop_unknown: bool,
    /// Whether all packets pass, and are only counted.
    pub dry_run: bool,
}

// The names of the maps, by which a program has them.
const COUNTS: &str = "filter_counters";
const BUCKETS: &str = "filter_buckets";

/// The maps of a filter.
#[derive(Debug)]
struct Maps {
    state: State,
    counters: Map,
    buckets: Map,
    tables: Tables,
}

/// A filter in the kernel, attached to an interface or not.
///
/// ```no_run
/// use longmatch_filter::{Action, Addresses, Content, Filter, Hook, List, Match, Policy, Setup};
///
/// let lists = vec![List { name: "blocked".to_owned(), action: Action::Drop }];
/// let policy = Policy { lists, matched: Match::Source, scoped: false, drop_others: false };
/// let setup =
///     Setup { hook: Hook::Xdp, ethernet: true, policy, drop_unknown: false, dry_run: false };
/// let blocked: Addresses = ["192.0.2.0/24".parse()?].into_iter().collect();
/// let filter = Filter::load(setup, &Content { lists: vec![blocked], ..Content::default() })?;
/// assert_eq!(filter.counts()?.lists[0].matched.packets, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Filter {
    setup: Setup,
    maps: Maps,
    program: Program,
}

/// The lists of an address, and the decisions about its packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The lists as the source, and the decision about packets from the address, to a destination in no list but in the
    /// scope; `None` if sources are not looked up.
    pub source: Option<(Mask, Decision)>,
    /// The lists as the destination, and the decision about packets to the address, from a source in no list; `None` if
    /// destinations are not looked up.
    pub destination: Option<(Mask, Decision)>,
}

impl Filter {
    /// Loads a filter into the kernel.
    ///
    /// # Errors
    /// If the process lacks rights, the kernel a feature, or the lists have too many combinations.
    ///
    /// # Panics
    /// If there are more than [`MAX_LISTS`] lists, or `content` has not as many as the policy.
    pub fn load(setup: Setup, content: &Content) -> Result<Self, FilterError> {
        let lists = setup.policy.lists.len();
        assert!(lists <= MAX_LISTS && lists == content.lists.len(), "the lists of the policy");
        let has_mark = setup.policy.lists.iter().any(|it| matches!(it.action, Action::Mark(_)));
        if has_mark && setup.hook == Hook::Xdp {
            return Err(FilterError::MarkInXdp);
        }
        let array = |name, bytes: usize, count: usize| {
            Map::create(&MapSpec::new(MapKind::PerCpuArray, name, bytes as u32, count as u32))
        };
        let policy = &setup.policy;
        let state = State::create(policy)?;
        let mut classes = state.classes(policy);
        let tables = Tables::create(&Merged::of(content, policy, &mut classes)?)?;
        state.store_classes(policy, &classes);
        let counters = array(COUNTS, COUNTER_BYTES, COUNTERS)?;
        let buckets = array(BUCKETS, BUCKET_BYTES, MAX_LISTS)?;
        let maps = Maps { state, counters, buckets, tables };
        let program = load_program(&setup, &maps)?;
        Ok(Self { setup, maps, program })
    }

    /// The filter that a program is, by its maps; `None` if it has not those of this version.
    pub(crate) fn open(setup: Setup, program: Program) -> Result<Option<Self>, sys::Error> {
        let (mut state, mut counters, mut buckets, mut tables) = (None, None, None, None);
        for id in program.info()?.maps {
            let map = Map::open_id(id)?;
            match &*map.info()?.name {
                STATE => state = Some(State::open(map)?),
                COUNTS => counters = Some(map),
                BUCKETS => buckets = Some(map),
                VERSIONS => tables = Some(Tables::open(map)?),
                _ => {}
            }
        }
        let (Some(state), Some(counters), Some(buckets), Some(tables)) =
            (state, counters, buckets, tables)
        else {
            return Ok(None);
        };
        Ok(Some(Self { setup, maps: Maps { state, counters, buckets, tables }, program }))
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The properties.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Replaces the addresses of all lists. Each packet sees either the old ones or the new ones.
    ///
    /// If they need larger maps, there is a new program with these: `update` puts it where packets find the old one.
    ///
    /// # Errors
    /// If the lists have too many combinations, or the kernel no memory; nothing is replaced then.
    ///
    /// # Panics
    /// If `content` has not as many lists as the policy.
    pub fn replace(
        &mut self,
        content: &Content,
        update: impl FnOnce(&Program) -> Result<(), FilterError>,
    ) -> Result<(), FilterError> {
        let policy = &self.setup.policy;
        assert_eq!(policy.lists.len(), content.lists.len(), "the lists of the policy");
        let mut classes = self.maps.state.classes(policy);
        let merged = Merged::of(content, policy, &mut classes)?;
        let version = self.maps.tables.load(&merged)?;
        self.maps.state.store_classes(policy, &classes);
        if let Some(version) = version {
            return Ok(self.maps.tables.publish(&version)?);
        }
        let old = std::mem::replace(&mut self.maps.tables, Tables::create(&merged)?);
        let replaced = load_program(&self.setup, &self.maps).and_then(|program| {
            update(&program)?;
            Ok(program)
        });
        match replaced {
            Ok(program) => self.program = program,
            Err(error) => {
                self.maps.tables = old;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Changes the addresses of the lists within a prefix by one word of the kernel's table, so that each packet sees either
    /// the old ones or the new ones. O(ranges that share the word with the prefix, words of the table).
    ///
    /// `change` gets the addresses near the prefix, without those that always pass, which it adds. Returns `false`, and
    /// changes nothing, where more than a word had to change: for a prefix shorter than /17 (IPv4) or /16 (IPv6), for filters
    /// that look up both addresses in the lists, and for a full table. [`replace`](Self::replace) does it then.
    ///
    /// # Errors
    /// If the lists have too many combinations, or the kernel refuses; nothing is changed then.
    pub fn patch(
        &mut self,
        prefix: IpPrefix,
        change: impl FnOnce(&mut Content),
    ) -> Result<bool, FilterError> {
        let policy = &self.setup.policy;
        let least = if matches!(prefix, IpPrefix::V4(_)) { 17 } else { 16 };
        // The lists are in the first table, unless they are in two.
        let (end, is_one) = match policy.matched {
            Match::Source => (End::Source, true),
            Match::Destination => (End::Destination, true),
            Match::Both => (End::Source, false),
        };
        if !is_one || prefix.len() < least {
            return Ok(false);
        }
        let mut content = self.content_near(Some(prefix))?;
        change(&mut content);
        match prefix {
            IpPrefix::V4(it) => self.patch_family(
                Prefix::from_bits_masked(it.first(), least),
                content.parts(policy, end, |addresses| &addresses.ipv4),
            ),
            IpPrefix::V6(it) => self.patch_family(
                Prefix::from_bits_masked(it.first(), least),
                content.parts(policy, end, |addresses| &addresses.ipv6),
            ),
        }
    }

    /// Gives the addresses of one word of a root other lists. The parts may have other addresses too.
    fn patch_family<F: KernelFamily>(
        &self,
        slot: Prefix<F>,
        parts: Parts<F>,
    ) -> Result<bool, FilterError> {
        let inside = |part: Part<F>| {
            let (first, last) =
                (part.range.first().max(slot.first()), part.range.last().min(slot.last()));
            Some(Part { range: AddressRange::from_bits(first, last)?, ..part })
        };
        let mut classes = self.maps.state.classes(&self.setup.policy);
        let table = ends(&self.setup.policy)[0];
        let mut rib = Rib::new();
        let parts = parts.into_iter().filter_map(inside).collect();
        tables::fill(&mut rib, parts, &mut classes[table as usize])?;
        self.maps.state.store_classes(&self.setup.policy, &classes);
        self.maps.tables.patch(slot, &rib)
    }

    /// Runs the program on a frame, without an interface; whether the frame passes. It is counted.
    ///
    /// # Errors
    /// If the frame is shorter than 14 bytes, or the kernel refuses.
    pub fn run(&self, frame: &[u8]) -> Result<bool, FilterError> {
        let result = self.program.run(frame, Run::default())?.result;
        Ok(result == if self.setup.hook == Hook::Xdp { 2 } else { u32::MAX })
    }

    /// The instructions of the program, and those that the verifier followed on all paths, which kernels limit to a million
    /// (0 before Linux 5.16).
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn size(&self) -> Result<[u32; 2], FilterError> {
        let info = self.program.info()?;
        Ok([info.translated_bytes / 8, info.verified_instructions])
    }

    /// The counts since the start.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn counts(&self) -> Result<Counts, FilterError> {
        let Setup { policy, drop_unknown, .. } = &self.setup;
        let total = |map: &Map, key: usize, bytes: usize, offset: usize| {
            let values = map.look_up(&(key as u32).to_ne_bytes())?.unwrap_or_default();
            Ok::<_, FilterError>(Total::sum(&values, bytes, offset))
        };
        let counter = |key| total(&self.maps.counters, key, COUNTER_BYTES, 0);
        let mut counts = Counts::new(policy.lists.len());
        // Before the cells, which have these packets too.
        for (list, counts) in counts.lists.iter_mut().enumerate() {
            counts.over = total(&self.maps.buckets, list, BUCKET_BYTES, 8)?;
        }
        for (cell, [source, destination]) in cells(policy, &self.maps.state.classes(policy)) {
            counts.add(policy, [source, destination], counter(KEPT + cell)?);
        }
        counts.other = counter(Counter::Other as usize)?;
        counts.unknown = counter(Counter::Unknown as usize)?;
        counts.finish(*drop_unknown);
        Ok(counts)
    }

    /// The lists of an address.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn find(&self, address: IpAddr) -> Result<Found, FilterError> {
        let policy = &self.setup.policy;
        let classes = self.maps.state.classes(policy);
        let mut masks = [None; 2];
        for (end, class) in ends(policy).iter().zip(self.maps.tables.find(policy, address)?) {
            let lists = classes[*end as usize].masks();
            masks[*end as usize] = Some(lists.get(class as usize).copied().unwrap_or(0));
        }
        let scope = if policy.scoped { SCOPE } else { 0 };
        let [source, destination] = masks;
        Ok(Found {
            source: source.map(|lists| (lists, policy.decide(lists, scope))),
            destination: destination.map(|lists| (lists, policy.decide(0, lists))),
        })
    }

    /// The lists of all addresses that the kernel has at one end of packets, in order; empty if it is not looked up.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn parts(&self, end: End) -> Result<(Parts<Ipv4>, Parts<Ipv6>), FilterError> {
        self.parts_near(end, None)
    }

    fn parts_near(
        &self,
        end: End,
        near: Option<IpPrefix>,
    ) -> Result<(Parts<Ipv4>, Parts<Ipv6>), FilterError> {
        let policy = &self.setup.policy;
        let Some(table) = ends(policy).iter().position(|it| *it == end) else {
            return Ok((Parts::new(), Parts::new()));
        };
        let classes = self.maps.state.classes(policy);
        let masks = classes[end as usize].masks();
        let (ipv4, ipv6) = self.maps.tables.ranges(table as u32, near)?;
        Ok((parts(ipv4, masks), parts(ipv6, masks)))
    }

    /// The addresses of the lists and the scope in the kernel, without those that always pass.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn content(&self) -> Result<Content, FilterError> {
        self.content_near(None)
    }

    fn content_near(&self, near: Option<IpPrefix>) -> Result<Content, FilterError> {
        let policy = &self.setup.policy;
        let matched = if policy.looks_up_source() { End::Source } else { End::Destination };
        let listed = self.parts_near(matched, near)?;
        let with = |(ipv4, ipv6): &(Parts<Ipv4>, Parts<Ipv6>), mask: Mask| Addresses {
            ipv4: with_mask(ipv4, mask),
            ipv6: with_mask(ipv6, mask),
        };
        let lists = (0..policy.lists.len()).map(|list| with(&listed, 1 << list)).collect();
        let scope = match policy.scoped {
            true => with(&self.parts_near(End::Destination, near)?, SCOPE),
            false => Addresses::default(),
        };
        Ok(Content { lists, scope, ..Content::default() })
    }

    /// The time after which all packets pass, unless the filter is confirmed; `None` if it is.
    pub fn remaining(&self) -> Option<Duration> {
        self.maps.state.remaining()
    }

    /// Lets all packets pass after this time, rounded up by at most two seconds, or never.
    pub fn set_remaining(&self, time: Option<Duration>) {
        self.maps.state.set_remaining(time);
    }
}

/// Ranges with the lists of their classes.
fn parts<F: Family>(ranges: ValueRanges<F>, masks: &[Mask]) -> Parts<F> {
    let lists = |class: u32| masks.get(class as usize).copied().unwrap_or(0);
    ranges.into_iter().map(|(range, class)| Part { range, lists: lists(class) }).collect()
}

/// The addresses of parts with a bit of this mask.
fn with_mask<F: Family>(parts: &Parts<F>, mask: Mask) -> AddressSet<F> {
    let parts = parts.iter().filter(|part| part.lists & mask != 0);
    parts.map(|part| part.range).collect::<Vec<_>>().into()
}

fn load_program(setup: &Setup, maps: &Maps) -> Result<Program, FilterError> {
    let Maps { state, counters, buckets, tables } = maps;
    let program = FilterProgram {
        frames: Frames { tc: setup.hook != Hook::Xdp, ethernet: setup.ethernet },
        ends: ends(&setup.policy),
        drop_unknown: setup.drop_unknown,
        dry_run: setup.dry_run,
        maps: [state.map().descriptor(), counters.descriptor(), buckets.descriptor()],
        tables,
    };
    let code = program.assemble().map_err(FilterError::Program)?;
    let kind = if setup.hook == Hook::Xdp { ProgramKind::Xdp } else { ProgramKind::Classifier };
    Ok(Program::load(kind, "longmatch_filter", &code)?)
}
