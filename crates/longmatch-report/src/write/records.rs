//! The records, one a line, for other programs.

use crate::model::{Row, Section};

/// Every record as one line of JSON. Numbers that are none are `null`.
pub fn ndjson(sections: &[Section]) -> String {
    let mut out = String::new();
    for row in rows(sections) {
        out += &serde_json::to_string(&row).expect("names, numbers and nothing else");
        out.push('\n');
    }
    out
}

/// Every record as a line of CSV (RFC 4180), below a line with the names of the columns. Values
/// that are not there are empty.
pub fn csv(sections: &[Section]) -> String {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let never = "a vector takes all, and every row has the same fields";
    writer.write_record(columns()).expect(never);
    for row in rows(sections) {
        writer.serialize(row).expect(never);
    }
    let bytes = writer.into_inner().unwrap_or_else(|_| unreachable!("{never}"));
    String::from_utf8(bytes).expect("what strings were written to")
}

/// The rows of all sections, with nothing in the place of numbers that are none.
fn rows(sections: &[Section]) -> impl Iterator<Item = Row> {
    sections.iter().flat_map(|section| &section.records).map(|row| {
        let clean = |value: Option<f64>| value.filter(|value| value.is_finite());
        Row {
            value: clean(row.value),
            min: clean(row.min),
            q1: clean(row.q1),
            q3: clean(row.q3),
            max: clean(row.max),
            mean: clean(row.mean),
            std_dev: clean(row.std_dev),
            paper: clean(row.paper),
            ..row.clone()
        }
    })
}

/// The names of the fields of a row, in their order: a file of no records has them too.
fn columns() -> Vec<String> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let never = "a row is flat and a vector takes all";
    writer.serialize(Row::default()).expect(never);
    let bytes = writer.into_inner().unwrap_or_else(|_| unreachable!("{never}"));
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    reader.headers().expect("what was just written").iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::sample;

    fn section(records: Vec<Row>) -> Section {
        Section { records, ..sample::page().sections.remove(0) }
    }

    #[test]
    fn the_first_line_names_the_fields_in_their_order() {
        let header = "experiment,figure,table,family,routes,engine,traffic,keys,mode,batch,threads,\
                      simd,at,metric,unit,value,min,q1,q3,max,mean,std_dev,passes,repeated,disturbed,paper,\
                      paper_of,refused\r\n";
        assert_eq!(csv(&[]), header);
        assert!(csv(&[section(vec![Row::default()])]).starts_with(header));
        assert_eq!(ndjson(&[]), "");
    }

    #[test]
    fn what_needs_quotes_has_them() {
        let row = Row {
            experiment: "a,b".into(),
            figure: "say \"c\"".into(),
            table: "two\r\nlines".into(),
            family: " blank".into(),
            value: Some(1.5),
            min: Some(f64::NAN),
            max: Some(f64::INFINITY),
            paper: Some(241.69),
            ..Row::default()
        };
        let text = csv(&[section(vec![row.clone()])]);
        let (_, line) = text.split_once("\r\n").expect("two lines");
        assert!(
            line.starts_with("\"a,b\",\"say \"\"c\"\"\",\"two\r\nlines\", blank,0,,"),
            "{line}"
        );
        assert!(line.ends_with(",1.5,,,,,,,0,0,0,241.69,,\r\n"), "{line}");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let again: Vec<Row> = reader.deserialize().map(|row| row.expect("a row")).collect();
        assert_eq!(again, [Row { min: None, max: None, ..row }]);
    }

    #[test]
    fn every_line_is_an_object() {
        let row = Row { table: "two\nlines".into(), value: Some(f64::NAN), ..Row::default() };
        let text = ndjson(&[section(vec![row, Row::default()])]);
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            let row: Row = serde_json::from_str(line).expect("a row");
            assert_eq!(row.value, None);
        }
    }
}
