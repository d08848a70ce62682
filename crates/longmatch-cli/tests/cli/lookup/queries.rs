//! Prefixes as queries, and the columns of the answers.

use super::{ROUTES, SITES};
use crate::common::{Dir, run, run_with};

/// A prefix is answered by its covers and by its more specific prefixes, from files, compiled tables
/// and the default table, for arguments and standard input.
#[test]
fn prefixes_are_queries() {
    let dir = Dir::new();
    let sites = dir.file("sites.csv", SITES);
    let table = dir.path("sites.lm");
    assert_eq!(run(&["compile", "-r", &sites, "-o", &table]).code, 0);
    let office = "10.0.0.0/8\t64500\toffice\t0.5";
    let lab = "10.9.0.0/16\t64501\t\t";
    let west = "192.0.2.0/25\t64502\tlab, west\t2.25";
    let none = "-\t-\t-\t-";
    let cases = [
        ("10.9.7.0/24", &[][..], &[lab][..]),
        ("10.9.0.0/16", &[], &[lab]),
        ("10.8.0.0/15", &[], &[office]),
        ("10.9.0.1/32", &[], &[lab]),
        ("\"10.9.0.0/17\"", &[], &[lab]),
        ("::ffff:10.9.0.0/112", &[], &[lab]),
        ("::ffff:0:0/96", &[], &[none]),
        ("0.0.0.0/0", &[], &[none]),
        ("::/0", &[], &[none]),
        ("10.9.7.0/24", &["--all"], &[office, lab]),
        ("10.9.0.0/16", &["-a"], &[office, lab]),
        ("192.0.2.0/24", &["--all"], &[none]),
        ("10.0.0.0/8", &["--more-specific"], &[office, lab]),
        ("10.9.0.0/16", &["--more-specific"], &[lab]),
        ("192.0.2.0/24", &["--more-specific"], &[west]),
        ("0.0.0.0/0", &["--more-specific"], &[office, lab, west]),
        ("::ffff:10.0.0.0/104", &["--more-specific"], &[office, lab]),
        ("::ffff:0:0/96", &["--more-specific"], &[none]),
        ("10.9.7.0/24", &["--more-specific"], &[none]),
        ("10.9.0.1", &["--more-specific"], &[none]),
        ("10.9.7.1/24", &["--mask"], &[lab]),
        ("10.9.7.1/8", &["--mask", "--more-specific"], &[office, lab]),
    ];
    for (query, options, answers) in cases {
        let shown = query.trim_matches('"');
        let expected: String = answers.iter().map(|of| format!("{shown}\t{of}\n")).collect();
        let code = i32::from(answers == [none]);
        for source in [&["-r", &sites][..], &["-r", &table], &["--table", &table]] {
            let lookup = [&["lookup"], source, options].concat();
            let argument = run(&[&lookup[..], &[query]].concat());
            assert_eq!(
                (argument.code, &argument.stdout[..]),
                (code, &expected[..]),
                "{lookup:?} {query}"
            );
            let stdin = run_with(&[&lookup[..], &["-"]].concat(), format!("{query}\n{query}"));
            assert_eq!(
                (stdin.code, stdin.stdout),
                (code, expected.repeat(2)),
                "{lookup:?} {query}"
            );
        }
    }
    let json = run(&["lookup", "-r", &sites, "--json", "10.9.7.0/24"]).stdout;
    assert!(
        json.starts_with(r#"{"address":"10.9.7.0/24","prefix":"10.9.0.0/16","asn":64501"#),
        "{json}"
    );
    for options in [&[][..], &["--all"], &["--more-specific"], &["--mask"]] {
        let ended = run(&[&["lookup", "1.1.1.0/24"], options].concat());
        let expected = "1.1.1.0/24\t1.1.1.0/24\t13335\tCloudflare, Inc.\n";
        assert_eq!((ended.code, &ended.stdout[..]), (0, expected), "{options:?}");
    }
}

/// Addresses and prefixes of standard input in any order, more than fit a block.
#[test]
fn prefixes_and_addresses_are_answered_in_order() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let queries = "10.9.1.7\n10.9.0.0/16\n2001:db8::/48\n192.0.2.0/24\n10.9.1.128/25\n";
    let answers = "10.9.1.7\t10.9.1.0/24\tbench-7\n10.9.0.0/16\t10.9.0.0/16\tlab\n\
        2001:db8::/48\t2001:db8::/32\tv6-office\n192.0.2.0/24\t-\t-\n\
        10.9.1.128/25\t10.9.1.0/24\tbench-7\n";
    let ended = run_with(&["lookup", "-r", &routes, "-"], queries.repeat(20_000));
    assert!((ended.code, ended.stdout) == (1, answers.repeat(20_000)));
    let inside = "10.9.0.0/16\t10.9.0.0/16\tlab\n10.9.0.0/16\t10.9.1.0/24\tbench-7\n";
    let lookup = ["lookup", "-r", &routes, "--more-specific", "-"];
    let ended = run_with(&lookup, "10.9.0.0/16\n".repeat(50_000));
    assert!((ended.code, ended.stdout) == (0, inside.repeat(50_000)));
    let ended = run_with(&lookup, "10.9.0.0/16\n\n10.9.0.1/16\n10.9.0.0/16\n");
    assert_eq!((ended.code, &ended.stdout[..]), (2, inside));
    assert!(ended.stderr.starts_with("longmatch: standard input, line 3: "), "{ended:?}");
}

#[test]
fn prefixes_that_are_none_are_errors_with_advice() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let cases = [
        (
            "10.0.0.1/8",
            "'10.0.0.1/8' is not a prefix: host bits are set after /8",
            "(--mask drops host bits)",
        ),
        ("10.0.0.0/33", "'10.0.0.0/33' is not a prefix: prefix length 33 is greater than 32", ""),
        (
            "10.0.0.0/255.0.0.0",
            "is not an IP address: write a prefix as 192.0.2.0/24",
            "--skip-invalid",
        ),
        ("10/8", "is not an IP address: write a prefix as 192.0.2.0/24", "--skip-invalid"),
    ];
    for (query, problem, advice) in cases {
        for (ended, place) in [
            (run(&["lookup", "-r", &routes, query]), ""),
            (run_with(&["lookup", "-r", &routes, "-"], query), "standard input, line 1: "),
        ] {
            assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
            assert!(ended.stderr.starts_with(&format!("longmatch: {place}'{query}'")), "{ended:?}");
            assert!(ended.stderr.contains(problem) && ended.stderr.contains(advice), "{ended:?}");
        }
    }
    // The address of a bad prefix is no query of its own; that of a log is.
    let lines = "10.9.0.1/16\n10.9.0.0/16\nfrom 10.9.0.1/16 to\n";
    let ended = run_with(&["lookup", "-r", &routes, "--skip-invalid", "-"], lines);
    let expected = "10.9.0.0/16\t10.9.0.0/16\tlab\n10.9.0.1\t10.9.0.0/16\tlab\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
    assert!(ended.stderr.contains("1 line skipped, first line 1: '10.9.0.1/16'"), "{ended:?}");
    for (option, query, is) in [("-4", "2001:db8::/32", "IPv6"), ("-6", "10.0.0.0/8", "IPv4")] {
        let ended = run(&["lookup", "-r", &routes, option, query]);
        let problem = format!("longmatch: '{query}' is an {is} prefix: leave out {option}\n");
        assert_eq!((ended.code, ended.stderr), (2, problem));
    }
}

#[test]
fn columns_have_names_and_can_be_chosen() {
    let dir = Dir::new();
    let sites = dir.file("sites.csv", SITES.replace("asn,site", "prefix,site"));
    let table = dir.path("sites.lm");
    assert_eq!(run(&["compile", "-r", &sites, "--prefix-column", "network", "-o", &table]).code, 0);
    let list = dir.file("list.txt", "10.0.0.0/8\n");
    let routes = dir.file("routes.txt", ROUTES);
    let office = "10.1.2.3\t10.0.0.0/8";
    let cases = [
        (&table, &["--header", "10.1.2.3"][..], format!("address\tprefix\tprefix_\tsite\tload\n{office}\t64500\toffice\t0.5\n")),
        (&table, &["--add", "load,prefix", "10.1.2.3"], format!("{office}\t0.5\t64500\n")),
        (&table, &["--add", "site", "--add", "load", "--header", "10.1.2.3"], format!("address\tprefix\tsite\tload\n{office}\toffice\t0.5\n")),
        (&table, &["--csv", "--header", "192.0.2.1", "::%a,b", "10.9.0.1"], "address,prefix,prefix_,site,load\n192.0.2.1,192.0.2.0/25,64502,\"lab, west\",2.25\n\"::%a,b\",,,,\n10.9.0.1,10.9.0.0/16,64501,,\n".to_owned()),
        (&table, &["--csv", "--add", "site", "--all", "10.9.0.1"], "address,prefix,site\n10.9.0.1,10.0.0.0/8,office\n10.9.0.1,10.9.0.0/16,\n".to_owned()),
        (&table, &["--json", "--add", "load,prefix", "10.1.2.3", "::"], "{\"address\":\"10.1.2.3\",\"prefix\":\"10.0.0.0/8\",\"load\":0.5,\"prefix_\":64500}\n{\"address\":\"::\",\"prefix\":null,\"load\":null,\"prefix_\":null}\n".to_owned()),
        (&list, &["--header", "10.1.2.3"], format!("address\tprefix\n{office}\n")),
        (&routes, &["--header", "--add", "next_hop", "10.1.2.3"], format!("address\tprefix\tnext_hop\n{office}\toffice\n")),
    ];
    for (file, options, expected) in &cases {
        let ended = run(&[&["lookup", "-r", file], *options].concat());
        assert_eq!(ended.stdout, *expected, "{options:?} {}", ended.stderr);
        if *file == &table {
            assert_eq!(run(&[&["lookup", "--table", file], *options].concat()), ended);
        }
    }
    let ended = run_with(&["lookup", "-r", &list, "--csv", "-"], "");
    assert_eq!((ended.code, &ended.stdout[..]), (0, "address,prefix\n"));
    let refused = [
        (
            &["-r", &table, "--add", "site,b\u{1b}"][..],
            r"--add: the prefix data have no column 'b\u{1b}'; they have: prefix, site, load",
        ),
        (
            &["-r", &list, "--add", "asn"],
            "--add: the prefix data have no column 'asn'; they have: none",
        ),
        (
            &["--add", "country"],
            "--add: the prefix data have no column 'country'; they have: asn, name",
        ),
        (&["-r", &table, "--add", "site,load,site"], "--add: 'site' is given twice"),
        (&["--header", "--json"], "cannot be used with"),
        (&["--csv", "--json"], "cannot be used with"),
        (&["--all", "--more-specific"], "cannot be used with"),
    ];
    for (options, problem) in refused {
        let ended = run(&[&["lookup", "10.1.2.3"], options].concat());
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{options:?}");
        assert!(ended.stderr.contains(problem), "{options:?}: {}", ended.stderr);
    }
}
