//! The tables of classes: for each family and each end of packets one, in two versions, of which packets see one.

use longmatch::{Family, Ipv4, Ipv6};
use longmatch_bpf::asm::{Alu, Assembler, If, Label, MAP_LOOKUP, R0, R1, R2, R3, STACK, Width};
use longmatch_bpf::sys::{self, Map, MapKind, MapSpec};

use crate::content::End;
use crate::layout::VERSION;
use crate::program::{IpFamily, Lookup, STACK_USED};

/// The tables, each a trie of the kernel, in arrays of maps by version and end.
#[derive(Debug)]
pub(crate) struct Tables {
    outer: [Map; 2],
}

/// Prefixes with classes.
pub(crate) struct Routes {
    pub ipv4: Vec<(longmatch::Prefix<Ipv4>, u32)>,
    pub ipv6: Vec<(longmatch::Prefix<Ipv6>, u32)>,
}

fn trie<F: Family>(routes: &[(longmatch::Prefix<F>, u32)]) -> Result<Map, sys::Error> {
    let bytes = F::WIDTH as u32 / 8;
    let mut spec = MapSpec::new(MapKind::LpmTrie, "t", 4, 1 << 22);
    spec.key_size = 4 + bytes;
    let map = Map::create(&spec)?;
    for (prefix, class) in routes {
        use longmatch::Bits;
        let key =
            [&u32::from(prefix.len()).to_ne_bytes()[..], prefix.first().to_network().as_ref()]
                .concat();
        map.insert(&key, &class.to_ne_bytes())?;
    }
    Ok(map)
}

impl Tables {
    pub(crate) fn create() -> Result<Self, sys::Error> {
        let (a, b) = (trie::<Ipv4>(&[])?, trie::<Ipv6>(&[])?);
        let outer = |inner: &Map| {
            let mut spec = MapSpec::new(MapKind::ArrayOfMaps, "tables", 4, 4);
            spec.inner = Some(inner);
            Map::create(&spec)
        };
        Ok(Self { outer: [outer(&a)?, outer(&b)?] })
    }

    pub(crate) fn maps(&self) -> [&Map; 2] {
        [&self.outer[0], &self.outer[1]]
    }

    pub(crate) fn from_maps(outer: [Map; 2]) -> Self {
        Self { outer }
    }

    pub(crate) fn store(&self, version: u32, end: End, routes: &Routes) -> Result<(), sys::Error> {
        let key = (version * 2 + end as u32).to_ne_bytes();
        let t = trie(&routes.ipv4)?;
        self.outer[0].insert(&key, &(t.descriptor() as u32).to_ne_bytes())?;
        let t = trie(&routes.ipv6)?;
        self.outer[1].insert(&key, &(t.descriptor() as u32).to_ne_bytes())
    }

    pub(crate) fn find(
        &self,
        version: u32,
        end: End,
        address: std::net::IpAddr,
    ) -> Result<u32, sys::Error> {
        let (n, key) = match address {
            std::net::IpAddr::V4(a) => (0, [&32u32.to_ne_bytes()[..], &a.octets()].concat()),
            std::net::IpAddr::V6(a) => (1, [&128u32.to_ne_bytes()[..], &a.octets()].concat()),
        };
        let id = self.outer[n].look_up(&(version * 2 + end as u32).to_ne_bytes())?;
        let Some(id) = id.and_then(|id| id.try_into().ok()) else { return Ok(0) };
        let map = Map::open_id(u32::from_ne_bytes(id))?;
        Ok(map.look_up(&key)?.and_then(|it| it.try_into().ok()).map_or(0, u32::from_ne_bytes))
    }

    pub(crate) fn begin(state: i32, asm: &mut Assembler, _pass: Label) {
        asm.map_value(R1, state, VERSION as i32);
        asm.load(R1, R1, 0, Width::Four);
        asm.alu_32_immediate(Alu::ShiftLeft, R1, 1);
        asm.store(STACK, STACK_USED - 8, R1, Width::Four);
    }

    pub(crate) fn lookup(outer: [i32; 2], asm: &mut Assembler, lookup: Lookup, pass: Label) {
        let place = STACK_USED - 4;
        asm.load(R1, STACK, STACK_USED - 8, Width::Four);
        asm.add(R1, lookup.end as i32);
        asm.store(STACK, place, R1, Width::Four);
        asm.look_up(outer[lookup.family as usize], place);
        asm.jump_by_null(If::Equal, pass);
        let (bits, words) = match lookup.family {
            IpFamily::V4 => (32, 1),
            IpFamily::V6 => (128, 4),
        };
        let key = STACK_USED - 32;
        asm.store_immediate(STACK, key, bits, Width::Four);
        for n in 0..words {
            asm.load(R3, STACK, lookup.key + 4 * n, Width::Four);
            asm.store(STACK, key + 4 + 4 * n, R3, Width::Four);
        }
        asm.copy(R1, R0);
        asm.copy(R2, STACK);
        asm.add(R2, key.into());
        asm.call(MAP_LOOKUP);
        let (none, done) = (asm.label(), asm.label());
        asm.jump_by_null(If::Equal, none);
        asm.load(R0, R0, 0, Width::Four);
        asm.jump(done);
        asm.place(none);
        asm.set(R0, 0);
        asm.place(done);
    }
}
