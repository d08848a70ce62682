//! Any bytes as VRPs: no panic, and VRPs that were read are read again from CSV.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longmatch::rov::VrpSet;
use longmatch_feed::{Options, read_vrps};

fuzz_target!(|bytes: &[u8]| {
    let (mut vrps, mut again) = (VrpSet::new(), VrpSet::new());
    if read_vrps(bytes, None, &Options::default(), &mut vrps).is_ok() {
        let rows =
            vrps.iter().map(|vrp| format!("{},{},{}\n", vrp.asn(), vrp.prefix(), vrp.max_length()));
        let csv = "ASN,IP Prefix,Max Length\n".to_owned() + &rows.collect::<String>();
        let read = read_vrps(csv.as_bytes(), None, &Options::default(), &mut again);
        assert_eq!(read.ok(), Some(vrps.len() as u64));
        assert!(vrps.iter().eq(again.iter()));
    }
});
