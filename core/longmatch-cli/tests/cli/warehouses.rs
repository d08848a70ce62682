//! The statements of `docs/warehouses.md` for DuckDB and Spark, on ranges that the program has written.

use std::fs;
use std::process::Command;

use crate::common::{Dir, program};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/warehouses.md");

/// Runs statements of the guide in a script, which prints a map from the addresses to the last column, and the number
/// of rows.
fn check(engine: &str, package: &str, script: impl Fn(&str) -> String) {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let has = Command::new(&python).args(["-c", &format!("import {package}")]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return eprintln!(
            "SKIPPED: the Python package {package} is not installed (PYTHON names the interpreter)"
        );
    }
    let guide = fs::read_to_string(GUIDE).unwrap();
    let (_, statements) = guide.split_once(&format!("{engine}:\n\n```sql\n")).unwrap();
    let (statements, _) = statements.split_once("```").unwrap();
    let dir = Dir::new();
    let sites =
        "network,asn\n0.0.0.0/1,1\n10.0.0.0/8,2\n10.9.0.0/16,3\n10.9.0.1/32,4\n2001:db8::/32,5\n";
    dir.file("sites.csv", sites);
    let mut compile = program(&["compile", "-r", "sites.csv", "--ranges"]);
    compile.current_dir(dir.path("."));
    assert!(compile.args(["--buckets", "16", "-o", "ranges.csv"]).status().unwrap().success());
    let script = format!(
        "visits = ['0.0.0.0', '9.255.255.255', '10.0.0.0', '10.8.255.255', '10.9.0.0', '10.9.0.1', \
         '10.9.0.2', '10.10.0.0', '127.255.255.255', '128.0.0.0']\n\
         {}\n\
         print(dict((row[0], row[-1]) for row in rows), len(rows))\n",
        script(statements.trim().trim_end_matches(';'))
    );
    let output =
        Command::new(python).current_dir(dir.path(".")).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers: Vec<_> =
        text.split(['{', '}', ',']).map(str::trim).filter(|answer| !answer.is_empty()).collect();
    answers.sort_unstable();
    assert_eq!(
        answers.join(" "),
        "'0.0.0.0': 1 '10.0.0.0': 2 '10.10.0.0': 2 '10.8.255.255': 2 '10.9.0.0': 3 '10.9.0.1': 4 \
         '10.9.0.2': 3 '127.255.255.255': 1 '128.0.0.0': None '9.255.255.255': 1 10"
    );
}

#[test]
fn duckdb_finds_the_longest_match() {
    check("DuckDB", "duckdb", |statements| {
        let (create, select) = statements.split_once('\n').unwrap();
        format!(
            "import duckdb\n\
             duckdb.sql(f'CREATE TABLE visits AS SELECT unnest({{visits}}) AS ip')\n\
             duckdb.sql('''{create}''')\n\
             rows = duckdb.sql('''{select}''').fetchall()"
        )
    });
}

/// Spark needs Java.
#[test]
fn spark_finds_the_longest_match() {
    check("Spark", "pyspark", |select| {
        format!(
            "from pyspark.sql import SparkSession\n\
             spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n\
             spark.createDataFrame([(ip,) for ip in visits], 'ip string').createOrReplaceTempView('visits')\n\
             ranges = spark.read.csv('ranges.csv', header=True, inferSchema=True)\n\
             ranges.createOrReplaceTempView('ranges')\n\
             rows = spark.sql('''{select}''').collect()"
        )
    });
}
