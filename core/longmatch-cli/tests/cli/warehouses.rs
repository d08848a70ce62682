//! The statements of `docs/warehouses.md` for DuckDB, ClickHouse and Spark, on ranges that the program has written.

use std::fs;
use std::process::Command;

use crate::common::{Dir, program};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/warehouses.md");

const SITES: &str = "network,asn\n0.0.0.0/1,1\n10.0.0.0/8,2\n10.9.0.0/16,3\n10.9.0.1/32,4\n2001:db8::/32,5\n\
                     2001:db8:1::/48,6\n2001:db8:1::7/128,7\n";
/// Addresses with the numbers of their sites.
const IPV4: &str = "'0.0.0.0': 1 '10.0.0.0': 2 '10.10.0.0': 2 '10.8.255.255': 2 '10.9.0.0': 3 '10.9.0.1': 4 \
                    '10.9.0.2': 3 '127.255.255.255': 1 '128.0.0.0': None '9.255.255.255': 1";
const IPV6: &str = "'2001:DB8:1:0:0:0:0:8': 6 '2001:db7:ffff::': None '2001:db8:1::': 6 '2001:db8:1::6': 6 '2001:db8:1::7': 7 \
                    '2001:db8:2::': 5 '2001:db8::': 5 '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff': 5 '2001:db9::': None \
                    '::': None '::1': None 'ffff::1': None";

/// Runs the statements below a heading of the guide in a script, which has the list `visits` and sets `rows`; they must give these
/// answers.
fn check(heading: &str, package: &str, answers: &str, script: impl Fn(&str) -> String) {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let has = Command::new(&python).args(["-c", &format!("import {package}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return eprintln!(
            "SKIPPED: the Python package {package} is not installed: 'pip install {package}', and PYTHON names the interpreter"
        );
    }
    let guide = fs::read_to_string(GUIDE).unwrap();
    let (_, section) = guide.split_once(&format!("\n{heading}")).unwrap();
    let (_, statements) = section.split_once(":\n\n```sql\n").unwrap();
    let (statements, _) = statements.split_once("```").unwrap();
    let dir = Dir::new();
    dir.file("sites.csv", SITES);
    let mut compile = program(&["compile", "-r", "sites.csv", "--ranges"]);
    compile.current_dir(dir.path(".")).args(["--buckets", "16", "-o", "ranges.csv"]);
    assert!(compile.output().unwrap().status.success());
    let pairs: Vec<_> = answers.split(" '").map(|pair| pair.trim_start_matches('\'')).collect();
    let visits: Vec<_> = pairs.iter().filter_map(|pair| Some(pair.split_once("':")?.0)).collect();
    let script = format!(
        "visits = {visits:?}\n\
         {}\n\
         print(*sorted(f'{{row[0]!r}}: {{row[-1]}}' for row in rows))\n",
        script(statements.trim().trim_end_matches(';'))
    );
    let output =
        Command::new(python).current_dir(dir.path(".")).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), answers);
}

/// DuckDB's script.
fn duckdb(statements: &str) -> String {
    let (create, select) = match statements.split_once('\n') {
        Some((create, select)) if create.starts_with("CREATE") => (create, select),
        _ => ("CREATE TABLE ranges AS SELECT * FROM 'ranges.csv'", statements),
    };
    format!(
        "import duckdb\n\
         duckdb.sql(f'CREATE TABLE visits AS SELECT unnest({{visits}}) AS ip')\n\
         duckdb.sql(\"\"\"{create}\"\"\")\n\
         rows = duckdb.sql(\"\"\"{select}\n\"\"\").fetchall()"
    )
}

#[test]
fn duckdb_finds_the_longest_match() {
    check("DuckDB", "duckdb", IPV4, duckdb);
    check("DuckDB, IPv6", "duckdb", IPV6, duckdb);
}

/// ClickHouse as a Python package, in the process of the script.
#[test]
fn clickhouse_finds_the_longest_match() {
    let script = |statements: &str| {
        let (create, select) = statements.split_once('\n').unwrap();
        format!(
            "import ast\n\
             from chdb.session import Session\n\
             session = Session()\n\
             session.query('CREATE DATABASE d')\n\
             session.query('USE d')\n\
             session.query('CREATE TABLE visits (ip String) ENGINE = Memory')\n\
             values = ', '.join(f'({{ip!r}})' for ip in visits)\n\
             session.query(f'INSERT INTO visits VALUES {{values}}')\n\
             session.query(\"\"\"{}\"\"\")\n\
             lines = str(session.query(\"\"\"{select}\n\"\"\", 'JSONCompactEachRow')).splitlines()\n\
             rows = [ast.literal_eval(line.replace('null', 'None')) for line in lines]",
            create.trim_end_matches(';')
        )
    };
    check("ClickHouse", "chdb", IPV4, script);
    check("ClickHouse, IPv6", "chdb", IPV6, script);
}

/// Spark needs Java.
#[test]
fn spark_finds_the_longest_match() {
    check("Spark", "pyspark", IPV4, |select| {
        format!(
            "from pyspark.sql import SparkSession\n\
             spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n\
             spark.createDataFrame([(ip,) for ip in visits], 'ip string').createOrReplaceTempView('visits')\n\
             ranges = spark.read.csv('ranges.csv', header=True, inferSchema=True)\n\
             ranges.createOrReplaceTempView('ranges')\n\
             rows = spark.sql(\"\"\"{select}\n\"\"\").collect()"
        )
    });
}
