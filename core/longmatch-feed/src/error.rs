//! [`FeedError`]: the problem of an input, and its place.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::IpAddr;

use longmatch::ParsePrefixError;
use longmatch::rov::MaxLengthError;
use longmatch::table::{ColumnError, ColumnType};

use crate::codec::Codec;
use crate::option_values::PeerSelector;
use crate::printable::printable;
use crate::route_value::RouteValue;
use crate::sink::SinkError;
use crate::trace::link;

/// A place in an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Location {
    /// The input as a whole.
    Whole,
    /// A line of text, counted from 1.
    Line(u64),
    /// A byte of the decompressed stream, counted from 0.
    Byte(u64),
    /// An element of the array `roas` of JSON, counted from 0.
    Element(u64),
}

/// Error of reading an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct FeedError {
    /// Name of the input, usually the path of a file.
    pub input: Option<String>,
    /// The place in the input.
    pub place: Location,
    /// The problem at that place.
    pub problem: Problem,
    /// The recognised format of rows, in words.
    pub read_as: Option<String>,
}

/// The action of a lenient load after a problem.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// It leaves out the line, row, record or packet.
    Next,
    /// It ends, and keeps the rows before the damage.
    End,
    /// It fails, too.
    Failure,
}

/// Declares the problems: name, fields, message. A tuple in place of fields is an error of another kind.
macro_rules! problems {
    ($($after:ident { $(
        $(#[$doc:meta])*
        $name:ident $({ $($field:ident: $type:ty),* })? $(($inner:ident: $inner_type:ty))? =
            $text:literal $(, $arg:expr)*;
    )* })*) => {
        /// A problem of an input, with its message and advice. Problems with one message are equal.
        #[derive(Debug)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the message of a problem shows its fields")]
        pub enum Problem { $($(
            #[doc = concat!("`", $text, "`")]
            $(#[$doc])*
            $name $({ $($field: $type),* })? $(($inner_type))?,
        )*)* }

        impl fmt::Display for Problem {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $($(
                    Self::$name $({ $($field),* })? $(($inner))? => write!(f, $text $(, $arg)*),
                )*)* }
            }
        }

        impl Problem {
            fn after(&self) -> After {
                match self { $($(Self::$name { .. } => After::$after,)*)* }
            }
        }
    };
}

problems! {
    Next {
        LineTooLong { limit: usize } = "the line is longer than {limit} bytes";
        Nul = "the line has a NUL byte: this is not a text file";
        NotUtf8 = "the line is not UTF-8: convert the file, such as one of Latin-1 (iconv -f LATIN1 -t UTF-8)";
        Prefix { text: String, error: ParsePrefixError } =
            "'{}' is not a prefix: {error}{}", text.escape_debug(), zone(text);
        Address { text: String, advice: Option<&'static str> } =
            "'{}' is not an IP address{}", text.escape_debug(), also(advice);
        MissingNextHop = "the prefix has no next hop";
        MissingPrefix = "expected a prefix after the first word";
        /// A line has a word too many.
        Trailing { text: String } = "unexpected '{}' after the next hop; a next hop is one word", text.escape_debug();
        StrayNextHop = "the 'nexthop' line has no route before it";
        SourceRoute = "the route depends on the source address ('from'): remove it";
        DefaultFamily = "neither this 'default' nor its neighbouring lines show whether it is IPv4 or IPv6: write \
            0.0.0.0/0 or ::/0";
        NoValue { name: &'static str } = "'{name}' at the end of the line has no value";
        /// The value of an attribute of `ip route` is invalid.
        Attribute { name: &'static str, value: String } = "'{}' is not a value of '{name}'", value.escape_debug();
        Netmask { mask: IpAddr } = "{mask} follows an address and is not a netmask: write the prefix with its length, \
            such as 192.0.2.0/24";
        NetworkBits { network: IpAddr, mask: IpAddr } = "{network} has host bits set under the netmask {mask}: write \
            the prefix with its length, such as 192.0.2.0/24";
        JsonRoute { text: String } = "not a route of 'ip -json': {}", printable(text);
        DumpPath = "the bgpdump line has no valid path identifier after its prefix";
        DumpKind { text: String } = "unknown kind of bgpdump line: '{}'", text.escape_debug();
        DumpPeer = "the bgpdump line has no valid peer address and AS";

        Width { cells: usize, columns: usize } =
            "the row has {} for {}: look for a delimiter or a quotation mark too many or missing",
            plural(*cells, "cell"), plural(*columns, "column");
        RowTooLong { limit: usize } =
            "the row is longer than {limit} bytes: look for a quotation mark that is missing";
        /// A netmask is alone in the place of a prefix.
        LoneNetmask { text: String } = "{text} is a netmask in the place of a prefix: write address/length, or name \
            the columns of the network and its netmask for the prefix";
        TwoMembers { text: String, columns: String } = "'{}' is an address with the length, the mask, the size or the \
            end of its network, or a host with a value: name both members for the prefix ({}), or the first alone if \
            it has hosts", text.escape_debug(), columns.escape_debug();
        TwoPrefixes { columns: String } = "the members {} of an object each have a prefix or an address: name the one \
            to read for the prefix, and read the input once more for the other", columns.escape_debug();
        ArrayRow { text: String } = "'{}' are values without names in an array: write objects with a member for the \
            prefix, or CSV (jq -r '.[] | @csv')", text.escape_debug();
        IntegerAddress { column: String, text: String } = "member '{}': {} is an integer, and hosts are not read as \
            integers: write the addresses as text", column.escape_debug(), text.escape_debug();
        HiddenRow { text: String } = "the line begins with '#', as a comment does, but has the prefix {text} in its \
            column: put its first cell between quotation marks if it is a row, or remove the line";
        StrayQuote = "the quotation mark that begins a cell here has no counterpart before a delimiter or a line end: \
            remove it, or double each one inside of a cell";
        /// A cell in the place of a prefix is none. The error is there if it looks like a prefix.
        Cell { column: String, text: String, error: Option<ParsePrefixError> } =
            "column '{}': '{}' is not a prefix, an address or a range{}", column.escape_debug(), text.escape_debug(),
            also(error);
        Range { text: String, reason: &'static str } =
            "'{}' is not a range of addresses: {reason}", text.escape_debug();
        Length { column: String, text: String } =
            "column '{}': '{}' is neither a prefix length nor a netmask of the address", column.escape_debug(),
            text.escape_debug();
        /// A line is not of its format.
        Listing { text: String, expected: &'static str } = "unexpected '{}': expected {expected}", text.escape_debug();
        Type { column: String, text: String, ty: ColumnType } =
            "column '{}': '{}' is not of the type {ty} that the column is given: leave the type to the input, or give \
             it string", column.escape_debug(), text.escape_debug();
        Duplicate { text: String } = "{text} has a row already";

        /// A field of MRT is longer than the rest of its record, message or attribute.
        Short { field: &'static str, needed: usize, have: usize } = "{field}: needs {needed} bytes and has {have}";
        TrailingBytes { bytes: usize } = "bytes after the last field: {bytes}";
        NoPeerIndex = "a RIB record before any peer index table";
        PeerOutOfRange { index: u16, peers: usize } =
            "peer index {index} is beyond the peer index table of {peers} peers";
        PrefixLength { len: u8, max: u8 } = "prefix length {len} is greater than {max}";
        Family { afi: u16 } = "address family {afi} is neither IPv4 nor IPv6";
        NoNextHop = "the route has no next hop";
        NextHopLength { len: usize } = "a next hop of {len} bytes is not an address";
        Marker = "the BGP message's marker is damaged";
        MessageLength { len: u16, have: usize } = "BGP message length {len} is impossible with {have} bytes left";

        BlockEnd { first: u32, last: u32 } = "the two lengths of a block differ: {first} and {last} bytes";
        Block { kind: u32 } = "a field of the block of type {kind} is longer than the block";
        NoInterface { index: u32, interfaces: usize } =
            "a packet has interface {index}, but the number of interfaces before it is {interfaces}";
        Interfaces { limit: usize } = "more than {limit} interfaces: the file is damaged here";
        InterfaceLink { index: u32, number: u32 } =
            "interface {index}: packets of link type {number}{} are not supported: expected {}", link::name(*number),
            link::EXPECTED;
    }
    End {
        Read(error: io::Error) = "cannot be read: {error}";
        Compressed { codec: Codec, error: io::Error } = "the {codec} data is damaged or cut off: {error}";
        /// The data decompresses to implausibly many bytes.
        Bomb { ratio: u64 } = "the data decompresses to more than {ratio} times its size: if it is genuine, decompress \
            the file first";
        Json { text: String } = "the JSON cannot be read: {}", printable(text);
        Mmdb { text: String } = "the MaxMind DB cannot be read: {}", shorten(text).escape_debug();
        RecordCutOff { needed: usize, have: usize } =
            "the file is cut off: the record needs {needed} bytes and has {have}";
        FirstRecord { needed: usize, have: usize } = "the file is cut off, or is not MRT: the first record needs \
            {needed} bytes and has {have}; a MaxMind DB without its end looks the same";
        RecordTooLong { len: usize, limit: usize } =
            "a record of {len} bytes is over the limit of {limit}: the file is damaged here";
        CaptureCutOff { needed: usize, have: usize } =
            "the capture is cut off: it needs {needed} bytes here and has {have}";
        PacketTooLong { len: usize, limit: usize } =
            "a packet or block of {len} bytes is over the limit of {limit}: the file is damaged here";
        Version { format: &'static str, major: u16, minor: u16 } =
            "version {major}.{minor} of {format} is not supported";
        ByteOrder = "the section's byte order is neither big-endian nor little-endian";
        BlockLength { len: u32 } = "a block of {len} bytes is impossible: the file is damaged here";
    }
    Failure {
        Open(error: io::Error) = "cannot be opened: {error}";
        UnknownCodec { name: &'static str } =
            "{name} is not supported: decompress the file first, or use gzip, bzip2, zstd or xz";
        /// The decompressed data is itself compressed.
        Nested { outer: Codec, inner: &'static str } = "{inner} data inside {outer} data: decompress the file once";
        /// The input is not a regular file.
        TooLarge { limit: u64 } = "the input is not a regular file and is longer than the limit of {limit} bytes in \
            memory: save it to a file and load that";
        UnknownFormat = "not a known format: expected text, MRT, a MaxMind DB or a compiled table";
        /// The input is text.
        UnknownText = "not a known format of prefixes: expected lines like '192.0.2.0/24 next-hop', CSV or other text \
            with a column of prefixes, a list, address ranges, JSON or the output of a routing tool";
        /// A VRP is damaged; without it valid routes would not be.
        Vrp(error: Box<MaxLengthError>) = "{error}";
        Asn { text: String } = "'{}' is not an AS number: expected AS64500 or 64500", text.escape_debug();
        MaxLength { text: String } = "'{}' is not a max length: expected a number of bits", text.escape_debug();
        VrpColumns = "these are no VRPs: expected JSON with the member 'roas', or CSV whose first row names the columns \
            ASN, IP Prefix and Max Length";
        UnknownTrace = "neither a packet capture (pcap or pcapng) nor a list of addresses, one per line";
        OtherFormat { name: &'static str } = "this is {name}";
        /// The archive has no such member, or several that may be meant, or the member cannot be read.
        Archive { problem: String } = "{problem}";
        NoCapture = "not a packet capture (pcap or pcapng)";
        LinkType { number: u32 } = "packets of link type {number}{} are not supported: expected {}",
            link::name(*number), link::EXPECTED;
        NotEthernet = "the packets have no Ethernet header, which forwarding needs";
        NoSuchPeer { selector: PeerSelector, peers: usize } =
            "{} '{selector}': name one by its address, AS number (AS64500) or position in the peer index table",
            no_peer(*peers);
        NoSuchColumn { name: String, columns: Vec<String> } =
            "no column is named '{}': {}", name.escape_debug(), list(columns);
        NoPrefixColumn { columns: Vec<String> } = "no column has prefixes, addresses or ranges: name the column of \
            the prefixes, or the two of the first and the last address; {}", list(columns);
        PrefixColumns { columns: usize } = "{columns} columns are named for the prefixes: name one, or the two of the \
            first and the last address, or of an address and its prefix length";
        FixedPrefix = "the format has no columns to choose the prefixes from: leave out the column of the prefixes";
        TooManyColumns { limit: usize } =
            "the input has more than {limit} columns: look for a wrong delimiter, or raise the limit";
        TooManyRows { limit: u64 } =
            "the distinct rows take more than {limit} bytes: keep fewer columns, or raise the limit";
        RangeOrNextHop { text: String, columns: String } = "'{}' is a range or a host with its next hop: write first-last, name both \
            columns for the prefix ({}) if they are ranges, or the format routes", text.escape_debug(), columns;
        LengthOrNextHop { text: String, columns: String } = "'{}' is a prefix with its length or a host with its next hop: write \
            address/length, name both columns for the prefix ({}), or the format routes", text.escape_debug(), columns;
        UnclearPair { text: String, columns: String } = "'{}' is an address with the length, the mask or the \
            end of its network, or a host with a value: name both columns for the prefix ({}), or the first alone if \
            it has hosts", text.escape_debug(), columns.escape_debug();
        SeveralColumns { text: String, columns: Vec<String> } = "the prefix may be in one of several columns, \
            as in '{}': name one for the prefix ({}), two for the first and the last address, or write one prefix a line", text.escape_debug(),
            columns.join(" or ").escape_debug();
        LoneEnd { column: String } = "column '{}' has one end of ranges, and no column is known to have the other: \
            name both for the prefix, or '{0}' alone if it has hosts", column.escape_debug();
        Wildcard { text: String } = "'{}' is a network with a wildcard mask, or a host with a value: write \
            address/length, or name the first column for the prefix if it has hosts", text.escape_debug();
        CarriageReturns = "the lines end with carriage returns alone, as on old Macintoshes: replace them by line \
            feeds (tr '\\r' '\\n')";
        /// A joined file cannot be read.
        Join(problem: Box<Problem>) = "{problem}";
        /// A joined file has two rows with one key; the place is the second.
        JoinKey { text: String, first: u64 } =
            "the key '{}' has a row in line {first} already: remove one of them", text.escape_debug();
        /// The first row of a joined file does not name the column with the keys.
        NoJoinKey { key: String, columns: Vec<String> } =
            "the first row must name the column of the keys, and has no '{}': {}", key.escape_debug(), list(columns);
        Updates = "these are updates of routes: give a table or a list";
        NoPaths { value: RouteValue } =
            "the routes have no AS paths: {value} is for MRT and bgpdump -m; take next-hop";
        Compiled { text: String } = "{text}";
        /// The table refuses a column or prefix.
        Column(error: ColumnError) = "{error}";
        Sink(error: SinkError) = "the route was refused: {error}";
        /// A lenient load found damage and no route.
        NothingRead { damaged: u64, first: Box<FeedError> } = "nothing could be read: {}", nothing(*damaged, first);
    }
}

impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Problem {
    /// A cell is not of the type that its column is given.
    pub(crate) fn of_type(column: &str, text: &str, ty: ColumnType) -> Self {
        Self::Type { column: column.to_owned(), text: shorten(text), ty }
    }

    /// Whether two columns have several meanings.
    pub(crate) fn is_unclear(&self) -> bool {
        matches!(
            self,
            Self::RangeOrNextHop { .. }
                | Self::LengthOrNextHop { .. }
                | Self::UnclearPair { .. }
                | Self::SeveralColumns { .. }
                | Self::LoneEnd { .. }
                | Self::Wildcard { .. }
        )
    }

    /// Whether the rest of the input can still be read.
    pub(crate) fn is_local(&self) -> bool {
        self.after() == After::Next
    }

    /// Whether the input is damaged: a lenient load keeps the rows before the damage.
    pub(crate) fn is_damage(&self) -> bool {
        self.after() != After::Failure
    }
}

impl FeedError {
    /// An error at a place of an input whose name is not known here.
    pub(crate) fn at(place: Location, problem: Problem) -> Self {
        Self { input: None, place, problem, read_as: None }
    }

    /// An error of the input as a whole.
    pub(crate) fn whole(problem: Problem) -> Self {
        Self::at(Location::Whole, problem)
    }

    /// An error of the line with this number.
    pub(crate) fn line(number: u64, problem: Problem) -> Self {
        Self::at(Location::Line(number), problem)
    }

    /// An error of the record, packet, block or stream at this byte.
    pub(crate) fn byte(offset: u64, problem: Problem) -> Self {
        Self::at(Location::Byte(offset), problem)
    }

    /// The error of a damaged input without anything readable.
    pub(crate) fn nothing_read(damaged: u64, first: Self) -> Self {
        let input = first.input.clone();
        Self { input, ..Self::whole(Problem::NothingRead { damaged, first: Box::new(first) }) }
    }

    /// The same error with the name of the input.
    pub(crate) fn named(mut self, name: Option<&str>) -> Self {
        // A joined file has its own name.
        self.input = self.input.or_else(|| name.map(str::to_owned));
        self
    }

    /// Whether the input after the damage can still be read.
    pub(crate) fn is_local(&self) -> bool {
        self.problem.is_local()
    }

    /// Whether the input is damaged.
    ///
    /// A lenient load keeps the routes before the damage.
    pub fn is_damage(&self) -> bool {
        self.problem.is_damage()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("input"),
            Self::Line(number) => write!(f, "line {number}"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Element(number) => write!(f, "roas[{number}]"),
        }
    }
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "{}: ", printable(input))?;
        }
        f.write_str(&placed(self))
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(error) | Self::Read(error) | Self::Compressed { error, .. } => Some(error),
            Self::Prefix { error, .. } | Self::Cell { error: Some(error), .. } => Some(error),
            Self::Column(error) => Some(error),
            Self::Sink(error) => Some(&**error),
            Self::NothingRead { first, .. } => Some(&**first),
            _ => None,
        }
    }
}

impl std::error::Error for FeedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.problem)
    }
}

impl From<ColumnError> for Problem {
    fn from(error: ColumnError) -> Self {
        Self::Column(error)
    }
}

/// The place, the problem and the format, without the name of the input.
fn placed(error: &FeedError) -> String {
    let FeedError { place, problem, read_as, .. } = error;
    let read_as = read_as.as_deref().map(printable);
    let read_as = read_as.map_or_else(String::new, |format| format!(" (read as {format})"));
    match place {
        Location::Whole => format!("{problem}{read_as}"),
        place => format!("{place}: {problem}{read_as}"),
    }
}

fn nothing(damaged: u64, first: &FeedError) -> String {
    match (damaged, first.place) {
        (1, _) => placed(first),
        (n, Location::Whole) => {
            format!("{n} lines or records are damaged, the first at input: {}", placed(first))
        }
        (n, _) => format!("{n} lines or records are damaged, the first at {}", placed(first)),
    }
}

/// Greatest number of characters of a cell or name in a message.
const MAX_SHOWN: usize = 60;
/// Greatest number of columns in a message.
const MAX_NAMES: usize = 16;

/// The first characters of a text, for a message.
pub(crate) fn shorten(text: &str) -> String {
    let mut kept: String = text.chars().take(MAX_SHOWN).collect();
    if kept.len() < text.len() {
        kept.push_str("...");
    }
    kept
}

fn zone(text: &str) -> &'static str {
    if text.contains('%') { "; leave out the zone id" } else { "" }
}

fn also(more: &Option<impl fmt::Display>) -> String {
    more.as_ref().map_or_else(String::new, |more| format!(": {more}"))
}

fn plural(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

fn no_peer(peers: usize) -> Cow<'static, str> {
    match peers {
        0 => "the input has no peers, so no peer is".into(),
        1 => "the only peer is not".into(),
        peers => format!("none of the {peers} peers is").into(),
    }
}

/// The names of the columns, or of the first of them.
fn list(columns: &[String]) -> String {
    // A list of names takes a name with a comma in quotation marks.
    let names = columns.iter().take(MAX_NAMES).map(|name| match shorten(name).escape_debug() {
        shown if name.contains(',') => format!("\"{shown}\""),
        shown => shown.to_string(),
    });
    let names = names.collect::<Vec<_>>().join(", ");
    match columns.len() {
        0 => "the input has no columns".to_owned(),
        n if n > MAX_NAMES => format!("the columns are {names} and {} more", n - MAX_NAMES),
        _ => format!("the columns are {names}"),
    }
}
