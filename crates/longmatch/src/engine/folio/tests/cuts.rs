//! Requested cuts.

use super::*;

/// Returns the cuts of a table with the options, as the variant shows them.
fn variant<F: Engines>(options: &str) -> Result<String, CompileError> {
    let stem = F::Bits::from_u128(0x2a00_1234 << (F::WIDTH - 32));
    let route = |len| Route { prefix: Prefix::<F>::from_bits_masked(stem, len), next_hop: hop(1) };
    let rib = [7, 18, 23, 30, F::WIDTH].into_iter().map(route).collect();
    built(&format!("{NAME}:pages:{options}"), &rib).map(|folio| folio.variant())
}

#[test]
fn requested_cuts_are_used() {
    let starts = |options: &str, expected: &str| {
        let variant = variant::<Ipv4>(options).unwrap();
        assert!(variant.starts_with(&format!("pages:codes=8:{expected}")), "{options}: {variant}");
    };
    starts("s=16", "cuts=16-");
    starts("cuts=8", "cuts=8-");
    starts("cuts=24", "cuts=24-");
    starts("cuts=18-25", "cuts=18-25-");
    starts("cuts=18-25-32", "cuts=18-25-32");
    starts("s=18-32", "cuts=18-32");
    starts("cuts=10-11-12-13", "cuts=10-11-12-13-");
    starts("cuts=16-24:dense", "cuts=16-24");
    starts("cuts=16:cuts=20", "cuts=20-");
    let starts = |options: &str, expected: &str| {
        let variant = variant::<Ipv6>(options).unwrap();
        assert!(variant.starts_with(&format!("pages:codes=8:{expected}")), "{options}: {variant}");
        assert_eq!(variant.contains("sparse"), options.contains("sparse"), "{variant}");
    };
    starts("cuts=20-34-48-62-64:sparse", "cuts=20-34-48-62-64-");
    starts("cuts=20:dense", "cuts=20-");
    starts("cuts=30:sparse", "cuts=30-");
    starts("cuts=24-38-52-64-78-92-106-120-128:sparse", "cuts=24-38-52-64-78-92-106-120-128:");
    // A variant chosen by the model can be requested.
    for options in ["sparse", "dense"] {
        let chosen = variant::<Ipv6>(options).unwrap();
        let again = format!("{chosen}:{options}");
        assert_eq!(variant::<Ipv6>(&again).unwrap(), chosen);
    }
}

#[test]
fn impossible_cuts_are_errors() {
    fn refused<F: Engines>(options: &str, shown: &str) {
        match variant::<F>(options) {
            Err(CompileError::Option(error)) => {
                assert_eq!((error.engine, &*error.option), (NAME, shown), "{options}");
                assert!(!error.expected.is_empty());
            }
            other => panic!("{options}: {other:?}"),
        }
    }
    for text in ["cuts=", "cuts", "s=", "cuts=16-", "cuts=-16", "cuts=256", "cuts=a", "codes=4", ""]
    {
        refused::<Ipv4>(text, text);
        refused::<Ipv6>(text, text);
    }
    // A root too small or too large; cuts that do not rise; windows too wide; cuts past the end.
    for text in ["cuts=0", "cuts=7", "cuts=31", "cuts=32", "cuts=99", "cuts=255"] {
        refused::<Ipv4>(text, text);
        refused::<Ipv6>(text, text);
    }
    for text in ["cuts=24-16", "cuts=16-16", "cuts=16-24-20", "cuts=16-31-18", "cuts=16-20-20"] {
        refused::<Ipv4>(text, text);
        refused::<Ipv6>(text, text);
    }
    for text in ["cuts=8-23", "cuts=16-31", "cuts=8-32", "cuts=25", "cuts=16-33", "cuts=18-25-33"] {
        refused::<Ipv4>(text, text);
    }
    for text in ["cuts=16-31", "cuts=20-34-48-62-66", "cuts=24-129", "cuts=20-255"] {
        refused::<Ipv6>(text, text);
    }
    refused::<Ipv4>("s=99", "cuts=99");
    refused::<Ipv4>("sparse", "sparse");
    refused::<Ipv4>("s=20:sparse", "cuts=20:sparse");
    refused::<Ipv6>("cuts=25:dense", "cuts=25:dense");
}

/// A configuration built in code is checked too.
#[test]
fn impossible_configurations_are_errors() {
    let error = Folio::<Ipv4, u32>::compile(&Rib::new(), &cuts(&[32])).unwrap_err();
    assert!(matches!(error, CompileError::Option(_)), "{error}");
    let sparse = Config { root: Some(RootForm::Sparse), ..Config::default() };
    assert!(Folio::<Ipv4, u32>::compile(&Rib::new(), &sparse).is_err());
    assert!(Folio::<Ipv6, u32>::compile(&Rib::new(), &sparse).is_ok());
}
