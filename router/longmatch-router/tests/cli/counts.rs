//! The counts that the binary prints.

use serde_json::Value;

/// Checks that each received packet is counted once.
pub fn check_sums(counts: &Value) {
    let number = |key: &str| counts[key].as_u64().unwrap_or_else(|| panic!("{key}: {counts}"));
    let sum = |key: &str| {
        let causes = counts[key].as_object().unwrap();
        causes.values().map(|count| count.as_u64().unwrap()).sum::<u64>()
    };
    let parts = number("forwarded") + number("kernel") + number("dropped");
    assert_eq!(number("received"), parts, "{counts}");
    assert_eq!(number("kernel"), sum("kernel_by_cause"), "{counts}");
    assert_eq!(number("dropped"), sum("dropped_by_cause"), "{counts}");
    let ports = |key: &str| {
        let ports = counts["ports"].as_object().unwrap().values();
        ports.map(|port| port[key].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(number("received"), ports("received"), "{counts}");
    assert_eq!(number("received_bytes"), ports("received_bytes"), "{counts}");
    assert_eq!(number("forwarded"), ports("sent"), "{counts}");
    assert_eq!(number("forwarded_bytes"), ports("sent_bytes"), "{counts}");
    assert_eq!(number("missed"), ports("missed"), "{counts}");
    // Each packet is forwarded or stopped with all of its bytes, but for padding.
    let stopped = sum("kernel_bytes_by_cause") + sum("dropped_bytes_by_cause");
    assert!(number("received_bytes") >= number("forwarded_bytes") + stopped, "{counts}");
}
