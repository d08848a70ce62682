//! The blocks of docs/python.md: the Python package beside other packages, from the records of its `compare.py`.

use serde_json::Value as Json;

use super::comparison::{Comparison, quartiles, text, whole};
use super::markdown::{Grid, count, number, wrap};

/// The method that the other rows are compared with: one address at a time, as people do today.
const BASE: &str = "pytricia";

impl Comparison {
    /// Returns the content of a block; `None` if it is not one of these.
    pub fn python(&self, name: &str) -> Option<Result<String, String>> {
        match name {
            "python lookups" => Some(self.lookups()),
            "python openings" => Some(self.openings()),
            "python spark" => Some(self.spark()),
            _ => None,
        }
    }

    /// Tabulates the rates of lookups.
    fn lookups(&self) -> Result<String, String> {
        let run = self.run();
        let rust = self.rust()?;
        let base = self.of_kind("lookups").find(|record| record["package"] == BASE);
        let base = rate(base.ok_or_else(|| format!("no lookups of {BASE}"))?)?;
        let about = format!(
            "{} random addresses (fewer for the loops) on the {} IPv4 routes of the embedded table; medians of {} passes \
             after a warm-up, contenders in turn, all answers compared. {}, {} cores, Python {}, NumPy {}, commit `{}`, {}. \
             The Rust library in batches on one thread of the same machine: {} million a second.",
            count(whole(run, "addresses")?),
            count(whole(run, "routes")?),
            whole(run, "passes")?,
            text(run, "cpu")?,
            whole(run, "cores")?,
            text(run, "python")?,
            text(run, "numpy")?,
            text(run, "commit")?,
            text(run, "date")?.split('T').next().unwrap_or_default(),
            number(rust / 1e6),
        );
        let heads =
            ["package", "call", "addresses as", "threads", "million/s", "quartiles", "of pytricia"];
        let mut grid = Grid::new(&heads);
        for record in self.of_kind("lookups") {
            let (per, addresses) = (rate(record)?, whole(record, "addresses")? as f64);
            let [low, _, high] = quartiles(record)?;
            grid.row(&[
                format!("{} {}", text(record, "package")?, text(record, "version")?),
                text(record, "how")?.to_owned(),
                text(record, "keys")?.to_owned(),
                whole(record, "threads")?.to_string(),
                small(per / 1e6),
                format!("{} to {}", small(addresses / high / 1e6), small(addresses / low / 1e6)),
                format!("{} times", small(per / base)),
            ]);
        }
        Ok(format!("{}\n{}", wrap(&about, ""), grid.finish()))
    }

    /// Tabulates the times of opening and the memory of several processes.
    fn openings(&self) -> Result<String, String> {
        let heads = ["package", "call", "file, MiB", "to the first answer, ms", "4 processes, MiB"];
        let mut grid = Grid::new(&heads);
        for record in self.of_kind("opening") {
            let same =
                |it: &&Json| it["package"] == record["package"] && it["how"] == record["how"];
            let memory = self.of_kind("memory").find(same);
            grid.row(&[
                format!("{} {}", text(record, "package")?, text(record, "version")?),
                text(record, "how")?.to_owned(),
                number(whole(record, "bytes")? as f64 / (1 << 20) as f64),
                number(quartiles(record)?[1] * 1e3),
                match memory {
                    Some(memory) => number(whole(memory, "bytes")? as f64 / (1 << 20) as f64),
                    None => "–".into(),
                },
            ]);
        }
        Ok(grid.finish())
    }

    /// Tabulates the rates of the recipe for Spark.
    fn spark(&self) -> Result<String, String> {
        let mut grid = Grid::new(&["workers", "rows", "seconds", "quartiles", "million rows/s"]);
        for record in self.of_kind("spark") {
            let (rows, [low, median, high]) = (whole(record, "rows")?, quartiles(record)?);
            grid.row(&[
                whole(record, "workers")?.to_string(),
                count(rows),
                number(median),
                format!("{} to {}", number(low), number(high)),
                number(rows as f64 / median / 1e6),
            ]);
        }
        Ok(grid.finish())
    }

    /// Returns the rate of the Rust library.
    fn rust(&self) -> Result<f64, String> {
        let record = self.of_kind("rust").next().ok_or("no rate of the Rust library")?;
        record["rate"].as_f64().ok_or_else(|| "the Rust library has no `rate`".into())
    }
}

/// Returns a number with three digits, also below 1.
fn small(value: f64) -> String {
    match value {
        value if value < 0.001 => format!("{value:.1e}"),
        value if value < 0.1 => format!("{value:.4}"),
        value => number(value),
    }
}

/// Returns the lookups in a second, by the median of the passes.
fn rate(record: &Json) -> Result<f64, String> {
    Ok(whole(record, "addresses")? as f64 / quartiles(record)?[1])
}

/// Records of a made run.
#[cfg(test)]
pub fn sample() -> String {
    let run = r#"{"record":"run","date":"2026-11-23T20:00+00:00","cpu":"C","cores":2,"python":"3.11.7","commit":"abc",
        "routes":1000,"addresses":2000000,"passes":5,"numpy":"2.4"}"#;
    let lines = [
        r#"{"record":"lookups","package":"longmatch","version":"1","how":"h","keys":"k","threads":1,"addresses":2000000,
            "seconds":[0.03,0.01,0.02,0.02,0.05]}"#,
        r#"{"record":"lookups","package":"pytricia","version":"1","how":"h","keys":"str","threads":1,"addresses":1000000,
            "seconds":[1.0,1.0,1.0,1.0,1.0]}"#,
        r#"{"record":"opening","package":"longmatch","version":"1","how":"h","bytes":2097152,"seconds":[0.002]}"#,
        r#"{"record":"memory","package":"longmatch","how":"h","bytes":3145728}"#,
        r#"{"record":"rust","rate":250000000.0}"#,
        r#"{"record":"spark","workers":2,"rows":3000000,"seconds":[2.0,3.0,4.0]}"#,
    ];
    let lines = [run].into_iter().chain(lines).map(|line| line.replace('\n', " "));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(records: &str, name: &str) -> Result<String, String> {
        Comparison::parse(records)?.python(name).ok_or("not a block")?
    }

    #[test]
    fn rates_are_medians_and_ratios_to_pytricia() {
        let text = content(&sample(), "python lookups").unwrap();
        assert!(
            text.contains("| longmatch 1 | h | k | 1 | 100 | 66.7 to 100 | 100 times |"),
            "{text}"
        );
        assert!(text.contains("250 million a second"), "{text}");
        let text = content(&sample(), "python openings").unwrap();
        assert!(text.contains("| longmatch 1 | h | 2.00 | 2.00 | 3.00 |"), "{text}");
        let text = content(&sample(), "python spark").unwrap();
        assert!(text.contains("| 2 | 3,000,000 | 3.00 | 2.00 to 3.00 | 1.00 |"), "{text}");
    }

    #[test]
    fn records_that_lack_a_field_are_refused() {
        assert!(Comparison::parse(r#"{"record":"rust"}"#).is_err());
        for field in ["addresses", "seconds", "package", "cpu", "rate"] {
            let broken = sample().replace(&format!("\"{field}\""), "\"other\"");
            assert!(content(&broken, "python lookups").is_err(), "{field}");
        }
        let empty = sample().replace("[0.002]", "[]");
        assert!(content(&empty, "python openings").is_err());
        assert!(content(&sample(), "rates").is_err());
    }
}
