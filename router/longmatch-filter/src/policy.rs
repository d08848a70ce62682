//! Lists with actions, and the decision about a packet by the lists that have its addresses.

use serde::{Deserialize, Serialize};

/// The lists that have an address: bit `n` for list `n`, and the bits of [`SAFE`] and [`SCOPE`].
pub type Mask = u64;

/// The greatest number of lists of a filter.
pub const MAX_LISTS: usize = 60;
/// The bit of addresses whose packets always pass.
pub const SAFE: Mask = 1 << 62;
/// The bit of addresses to which packets are filtered, if only packets to certain addresses are.
pub const SCOPE: Mask = 1 << 61;

/// The action of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The packet passes, whatever other lists it is in.
    Pass,
    /// The packet is dropped.
    Drop,
    /// The packet passes while the list has no more packets a second than this on each CPU, and is dropped otherwise.
    Limit(u32),
    /// The packet gets this mark (`skb->mark`) and passes. By tc only.
    Mark(u32),
    /// The packet is counted; other lists decide.
    Count,
}

impl Action {
    /// The place of the action in the order of decisions: the lowest of a packet's lists decides; `None` decides nothing.
    fn precedence(self) -> Option<u8> {
        match self {
            Self::Pass => Some(0),
            Self::Drop => Some(1),
            Self::Limit(_) => Some(2),
            Self::Mark(_) => Some(3),
            Self::Count => None,
        }
    }
}

/// A list: its name and its action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct List {
    /// The name, for counts and messages.
    pub name: String,
    /// The action.
    pub action: Action,
}

/// The address of a packet that is looked for in the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// The source.
    Source,
    /// The destination.
    Destination,
    /// Both: a packet is in a list if one of its addresses is.
    Both,
}

/// Lists, and the decisions that they lead to.
///
/// ```
/// use longmatch_filter::{Action, Cause, List, Match, Policy};
///
/// let lists = [("office", Action::Pass), ("blocked", Action::Drop), ("all", Action::Count)];
/// let lists = lists.map(|(name, action)| List { name: name.to_owned(), action }).to_vec();
/// let policy = Policy { lists, matched: Match::Source, scoped: false, drop_others: false };
/// // In the lists 1 and 2: the drop list decides.
/// let decision = policy.decide(0b110, 0);
/// assert_eq!((decision.cause, decision.action), (Cause::List(1), Action::Drop));
/// // In all three: a pass list comes before a drop list.
/// assert_eq!(policy.decide(0b111, 0).cause, Cause::List(0));
/// assert_eq!(policy.decide(0b100, 0).cause, Cause::Default);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// The lists, at most [`MAX_LISTS`]. Between lists of equal action the first one decides.
    pub lists: Vec<List>,
    /// The matched address.
    pub matched: Match,
    /// Whether only packets to the addresses of the scope are filtered.
    pub scoped: bool,
    /// Whether packets that no list decides about are dropped.
    pub drop_others: bool,
}

/// The reason of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// An address whose packets always pass.
    Safe,
    /// The destination is outside the scope.
    OutsideScope,
    /// The list of this number.
    List(usize),
    /// No list decides.
    Default,
}

/// A decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The reason.
    pub cause: Cause,
    /// The action, never [`Action::Count`].
    pub action: Action,
}

impl Policy {
    /// Decides about a packet by the lists of its source and those of its destination; the lists of an address that is not
    /// looked up are 0. O(lists).
    pub fn decide(&self, source: Mask, destination: Mask) -> Decision {
        let lists = source | destination;
        if lists & SAFE != 0 {
            return Decision { cause: Cause::Safe, action: Action::Pass };
        }
        if self.scoped && destination & SCOPE == 0 {
            return Decision { cause: Cause::OutsideScope, action: Action::Pass };
        }
        let deciding = self.lists.iter().enumerate().filter(|(n, _)| lists >> n & 1 == 1);
        let ranked =
            deciding.filter_map(|(n, list)| Some((list.action.precedence()?, n, list.action)));
        match ranked.min_by_key(|(precedence, n, _)| (*precedence, *n)) {
            Some((_, n, action)) => Decision { cause: Cause::List(n), action },
            None => {
                let action = if self.drop_others { Action::Drop } else { Action::Pass };
                Decision { cause: Cause::Default, action }
            }
        }
    }

    /// Whether the source is looked up.
    pub fn looks_up_source(&self) -> bool {
        self.matched != Match::Destination
    }

    /// Whether the destination is looked up.
    pub fn looks_up_destination(&self) -> bool {
        self.matched != Match::Source || self.scoped
    }
}
