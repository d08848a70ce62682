//! The block of docs/pipes.md: `annotate`, `lookup` and `set` beside other programs, from the records of their
//! `compare.py`.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::comparison::{Comparison, quartiles, text, whole};
use super::markdown::{Grid, count, number, wrap};

impl Comparison {
    /// Returns the content of a block of this module; `None` if it is not one of these.
    pub fn pipes(&self, name: &str) -> Option<Result<String, String>> {
        (name == "pipes").then(|| self.jobs())
    }

    /// Tabulates the jobs, one table each.
    fn jobs(&self) -> Result<String, String> {
        let run = self.run();
        let mut out = wrap(
            &format!(
                "Whole processes, from start to end, with the output in a file; medians of {} passes after a warm-up (of one, if it \
                 takes more than ten seconds), contenders in turn, all outputs compared. {}, {} cores, Python {}, commit `{}`, {}. The least memory that is told is that of \
                 the program that measures, about 23 MiB.",
                whole(run, "passes")?,
                text(run, "cpu")?,
                whole(run, "cores")?,
                text(run, "python")?,
                text(run, "commit")?,
                text(run, "date")?.split('T').next().unwrap_or_default(),
            ),
            "",
        );
        let mut seen = BTreeSet::new();
        for first in self.of_kind("pipe") {
            let job = text(first, "job")?;
            if seen.insert(job) {
                out += &format!("\n{}\n{}", title(first)?, self.job(job, first)?);
            }
        }
        match seen.is_empty() {
            true => Err("no jobs".into()),
            false => Ok(out),
        }
    }

    /// Tabulates the contenders of a job; the first is the one that the others are compared with.
    fn job(&self, job: &str, first: &Json) -> Result<String, String> {
        let base = quartiles(first)?[1];
        let unit = if text(first, "unit")? == "bytes" { "GB/s" } else { "million/s" };
        let heads = [
            "program",
            "call",
            "threads",
            unit,
            "seconds",
            "quartiles",
            "CPU, s",
            "memory, MiB",
            "time",
        ];
        let mut grid = Grid::new(&heads);
        for record in self.of_kind("pipe").filter(|record| record["job"] == job) {
            let [low, median, high] = quartiles(record)?;
            let per = if unit == "GB/s" { 1e9 } else { 1e6 };
            let cpu = record["cpu"].as_array().ok_or("a record without `cpu`")?;
            let mut cpu: Vec<f64> = cpu.iter().filter_map(Json::as_f64).collect();
            cpu.sort_by(f64::total_cmp);
            grid.row(&[
                format!("{} {}", text(record, "program")?, text(record, "version")?),
                text(record, "how")?.to_owned(),
                whole(record, "threads")?.to_string(),
                number(whole(record, "amount")? as f64 / median / per),
                number(median),
                format!("{} to {}", number(low), number(high)),
                number(cpu.get(cpu.len() / 2).copied().ok_or("a record without a pass")?),
                number(whole(record, "memory")? as f64 / (1 << 20) as f64),
                format!("{} times", number(median / base)),
            ]);
        }
        Ok(grid.finish())
    }
}

/// Returns the sentence above the table of a job.
fn title(record: &Json) -> Result<String, String> {
    let (what, amount) = (text(record, "what")?, whole(record, "amount")?);
    let amount = match text(record, "unit")? {
        "bytes" => format!("{} MB", count(amount / 1_000_000)),
        unit => format!("{} {unit}", count(amount)),
    };
    Ok(wrap(&format!("**{what}** ({amount}):"), ""))
}

/// Records of a made run.
#[cfg(test)]
pub fn sample() -> String {
    let run = r#"{"record":"run","date":"2026-11-24T20:00+00:00","cpu":"C","cores":2,"python":"3.11.7","commit":"abc","passes":5}"#;
    let pipe = |job: &str, program: &str, unit: &str, seconds: &str| {
        format!(
            r#"{{"record":"pipe","job":"{job}","what":"Some lines","amount":5000000,"unit":"{unit}","program":"{program}","version":"1","how":"h","threads":2,"seconds":{seconds},"cpu":[2.0],"memory":2097152}}"#
        )
    };
    [
        run.to_owned(),
        pipe("csv", "longmatch", "rows", "[0.5,0.4,0.6]"),
        pipe("csv", "pytricia", "rows", "[10.0,10.0,10.0]"),
        pipe("log", "longmatch", "bytes", "[0.001]"),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(records: &str) -> Result<String, String> {
        Comparison::parse(records)?.pipes("pipes").ok_or("not a block")?
    }

    #[test]
    fn each_job_has_a_table_of_rates_and_ratios() {
        let text = content(&sample()).unwrap();
        assert!(text.contains("**Some lines** (5,000,000 rows):"), "{text}");
        assert!(
            text.contains(
                "| longmatch 1 | h | 2 | 10.0 | 0.50 | 0.40 to 0.50 | 2.00 | 2.00 | 1.00 times |"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "| pytricia 1 | h | 2 | 0.50 | 10.0 | 10.0 to 10.0 | 2.00 | 2.00 | 20.0 times |"
            ),
            "{text}"
        );
        assert!(text.contains("(5 MB):") && text.contains("GB/s"), "{text}");
    }

    #[test]
    fn records_that_lack_a_field_are_refused() {
        for field in ["amount", "seconds", "program", "cpu", "memory", "passes"] {
            assert!(
                content(&sample().replace(&format!("\"{field}\""), "\"other\"")).is_err(),
                "{field}"
            );
        }
        let run = sample().lines().next().unwrap().to_owned();
        assert_eq!(content(&run), Err("no jobs".into()));
    }
}
