//! Frames of every kind, cut off anywhere and changed at random, against the reference.

mod reference;

use longmatch::EngineKind;
use longmatch_forward::io::Null;
use longmatch_forward::packet::{FlowFields, flow_hash, parse, rewrite};
use longmatch_forward::{Control, run};
use reference::{Fate, compare, corpus, expected, mac, ports, table};

/// A generator of numbers (SplitMix64), the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

#[test]
fn the_corpus_has_every_fate() {
    let fates: Vec<_> = corpus().iter().map(|frame| expected(frame)).collect();
    assert!(fates.iter().filter(|fate| matches!(fate, Fate::Sent(0, _))).count() > 4);
    assert!(fates.iter().filter(|fate| matches!(fate, Fate::Sent(1, _))).count() > 4);
    assert!(fates.iter().filter(|fate| **fate == Fate::Kernel).count() > 10);
    assert!(fates.iter().filter(|fate| **fate == Fate::Dropped).count() > 10);
}

#[test]
fn the_corpus_is_forwarded_as_by_the_reference_in_batches_of_any_size() {
    let ports = ports();
    for engine in [EngineKind::Folio, EngineKind::Linear] {
        let table = table(&ports, engine);
        for batch in [1, 2, 16, 255, 256] {
            compare(&corpus(), &table, &ports, batch);
        }
    }
}

/// A request to stop leaves time for packets that have arrived, though more arrive for ever.
#[test]
fn a_stopped_thread_goes_on_for_a_tenth_of_a_second() {
    let (ports, control) = (ports(), Control::new(1));
    let table = table(&ports, EngineKind::Linear);
    let (mut io, start) = (Null::new(ports.len() as u16, 60), std::time::Instant::now());
    control.stop();
    run(&mut io, &mut table.reader(), &ports, 32, &control, 0).unwrap();
    assert!(control.tally().received > 0 && start.elapsed().as_millis() >= 100);
}

#[test]
fn every_truncation_is_forwarded_as_by_the_reference() {
    let ports = ports();
    let table = table(&ports, EngineKind::Folio);
    for frame in corpus() {
        let cut: Vec<_> = (0..=frame.len()).map(|len| frame[..len].to_vec()).collect();
        compare(&cut, &table, &ports, 256);
        for frame in cut {
            flow_hash(&frame, FlowFields::default());
            flow_hash(&frame, FlowFields { ipv4_ports: false, ipv6_ports: false });
            let mut rewritten = frame.clone();
            rewrite(&mut rewritten, mac(3), mac(4));
            parse(&rewritten, Some(mac(4)));
        }
    }
}

/// A changed frame: some bytes set, cleared or copied, and the checksum set right for half of them,
/// without which nearly all would be dropped.
fn mutated(frame: &[u8], random: &mut Random) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for _ in 0..=random.below(4) {
        // Most fields are in the headers.
        let end = if random.below(4) > 0 { frame.len().min(62) } else { frame.len() };
        let place = random.below(end);
        frame[place] = match random.below(4) {
            0 => frame[place] ^ (1 << random.below(8)),
            1 => [0, 1, 0x7f, 0x80, 0xe0, 0xff, 0x45, 0x60][random.below(8)],
            2 => frame[random.below(frame.len())],
            _ => random.next() as u8,
        };
    }
    if random.below(2) == 0 && frame.len() >= 34 {
        reference::set_checksum(&mut frame[14..]);
    }
    match random.below(8) {
        0 => frame.truncate(random.below(frame.len() + 1)),
        1 => frame.resize(frame.len() + random.below(64), 0xaa),
        _ => {}
    }
    frame
}

#[test]
fn a_million_mutations_are_forwarded_as_by_the_reference() {
    const BATCHES: usize = 1_000;
    let ports = ports();
    let table = table(&ports, EngineKind::Folio);
    let corpus = corpus();
    let mut random = Random(1);
    for _ in 0..BATCHES {
        let frames = (0..1_000).map(|_| mutated(&corpus[random.below(corpus.len())], &mut random));
        compare(&frames.collect::<Vec<_>>(), &table, &ports, 256);
    }
}
