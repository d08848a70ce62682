//! The file of records: a line for each run, which names its tables, then the records of each table.
//!
//! A table's records come from one run. If all tables were measured in one run, the file has one line about a run.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::tables::TABLES;

/// The content of the file.
#[derive(Debug, Default)]
pub struct Published {
    /// The lines about runs, each with its `tables`.
    runs: Vec<Json>,
    /// The lines of each table, by its name.
    records: BTreeMap<String, Vec<String>>,
}

impl Published {
    /// Parses the file.
    ///
    /// # Errors
    /// If a line is neither about a run nor about a table.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut published = Self::default();
        for (i, line) in text.lines().enumerate() {
            let at = |problem: &str| format!("line {}: {problem}", i + 1);
            let json: Json = serde_json::from_str(line).map_err(|error| at(&error.to_string()))?;
            match (&json["record"], json["table"].as_str()) {
                (kind, _) if kind == "run" => published.runs.push(json),
                (_, Some(table)) => {
                    published.records.entry(table.into()).or_default().push(line.into());
                }
                _ => return Err(at("neither about a run nor about a table")),
            }
        }
        Ok(published)
    }

    /// Replaces the records of a table by those of a run. A run without a table left is removed.
    pub fn replace(&mut self, table: &str, run: &Json, lines: Vec<String>) {
        self.records.insert(table.into(), lines);
        for old in &mut self.runs {
            if let Some(tables) = old["tables"].as_array_mut() {
                tables.retain(|name| name != table);
            }
        }
        let same = |old: &&mut Json| {
            let mut old = (**old).clone();
            old.as_object_mut().is_some_and(|it| it.remove("tables").is_some()) && old == *run
        };
        match self.runs.iter_mut().find(same) {
            Some(own) => {
                if let Some(tables) = own["tables"].as_array_mut() {
                    tables.push(table.into());
                }
            }
            None => {
                let mut new = run.clone();
                new["tables"] = json!([table]);
                self.runs.push(new);
            }
        }
        self.runs.retain(|run| run["tables"].as_array().is_some_and(|it| !it.is_empty()));
    }

    /// Returns the text of the file: the tables are in the order of [`TABLES`].
    pub fn text(&self) -> String {
        let runs = self.runs.iter().map(|run| format!("{run}\n"));
        let records = TABLES.iter().filter_map(|table| self.records.get(table.name)).flatten();
        runs.chain(records.map(|line| format!("{line}\n"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(date: &str) -> Json {
        json!({"record": "run", "date": date})
    }

    fn lines(table: &str, rate: f64) -> Vec<String> {
        vec![format!(r#"{{"table":"{table}","mlps":{rate}}}"#)]
    }

    #[test]
    fn a_full_run_has_one_line_about_itself() {
        let mut published = Published::default();
        published.replace("ipv6-full", &run("a"), lines("ipv6-full", 1.0));
        published.replace("ipv4-full", &run("a"), lines("ipv4-full", 2.0));
        let wanted = "{\"date\":\"a\",\"record\":\"run\",\"tables\":[\"ipv6-full\",\"ipv4-full\"]}\n\
                      {\"table\":\"ipv4-full\",\"mlps\":2}\n{\"table\":\"ipv6-full\",\"mlps\":1}\n";
        assert_eq!(published.text(), wanted);
        assert_eq!(Published::parse(wanted).unwrap().text(), wanted);
    }

    #[test]
    fn other_tables_keep_their_run() {
        let mut published = Published::default();
        for table in ["ipv4-full", "ipv6-full"] {
            published.replace(table, &run("a"), lines(table, 1.0));
        }
        published.replace("ipv6-full", &run("b"), lines("ipv6-full", 3.0));
        let text = published.text();
        let of = |date: &str, table: &str| {
            format!("{{\"date\":\"{date}\",\"record\":\"run\",\"tables\":[\"{table}\"]}}\n")
        };
        assert!(text.starts_with(&(of("a", "ipv4-full") + &of("b", "ipv6-full"))), "{text}");
        assert!(text.ends_with("{\"table\":\"ipv6-full\",\"mlps\":3}\n"), "{text}");
        published.replace("ipv4-full", &run("b"), lines("ipv4-full", 3.0));
        assert_eq!(published.text().matches("run").count(), 1, "a run without tables is removed");
    }

    #[test]
    fn malformed_lines_are_refused() {
        assert!(Published::parse("{}").unwrap_err().starts_with("line 1: neither"));
        assert!(Published::parse("{\"table\":\"t\"}\n{").unwrap_err().starts_with("line 2: "));
    }
}
