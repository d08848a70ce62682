//! `longmatch compile --ranges`: Parquet has what CSV has.

use std::fmt::Write;
use std::fs;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::basic::Compression;

use crate::common::{Dir, run};
use crate::{decode, parquet};

/// Compiles ranges of a file as CSV and as Parquet.
fn compile(routes: &str, options: &[&str]) -> (String, Vec<u8>) {
    let dir = Dir::new();
    let routes = dir.file("routes.csv", routes);
    let [csv, columnar] = ["ranges.csv", "ranges.parquet"].map(|name| dir.path(name));
    for output in [&csv, &columnar] {
        let first = ["compile", "--routes", &routes, "--json", "--ranges", "-o", output];
        let ended = run(&[&first[..], options].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let bytes = format!("\"bytes\":{},", fs::metadata(output).unwrap().len());
        assert!(ended.stdout.contains(&bytes), "{bytes} {ended:?}");
    }
    (fs::read_to_string(csv).unwrap(), fs::read(columnar).unwrap())
}

/// A cell as CSV has it.
fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::FixedSizeBinary(16) => {
            let bytes = column.as_fixed_size_binary().value(row);
            format!("{:032x}", u128::from_be_bytes(bytes.try_into().unwrap()))
        }
        _ => {
            let text = column.as_string::<i32>().value(row);
            match text.contains([',', '"']) {
                true => format!("\"{}\"", text.replace('"', "\"\"")),
                false => text.to_owned(),
            }
        }
    }
}

fn csv(rows: &RecordBatch) -> String {
    let schema = rows.schema();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..rows.num_rows() {
        let cells: Vec<_> = rows.columns().iter().map(|column| cell(column, row)).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    text
}

/// Nested prefixes of both families, up to the last addresses, with cells of each type, and empty ones.
fn routes() -> String {
    let mut text = "net,asn,site,score,shift\n\
                    0.0.0.0/0,0,,0.5,-1\n\
                    255.255.255.255/32,18446744073709551615,last,,-9223372036854775808\n\
                    ::/12,1,\"a, \"\"b\"\"\",-2.25,\n\
                    ffff::/16,,\u{fc},1e300,7\n"
        .to_owned();
    for n in 0..20_000u32 {
        let (high, low) = (n >> 8, n & 0xff);
        writeln!(text, "10.{high}.{low}.4/30,{n},s{},{}.5,-{n}", n % 7, n % 11).unwrap();
        writeln!(text, "2001:db8:{high:x}:{low:x}::/64,{n},,,").unwrap();
    }
    text
}

#[test]
fn ranges_are_those_of_csv() {
    let types = ["--types", "asn=u64,score=f64,shift=i64"];
    for buckets in [&[][..], &["--buckets", "8,16"]] {
        let (text, bytes) = compile(&routes(), &[&types[..], buckets].concat());
        let metadata = parquet(&bytes);
        let group = metadata.metadata().row_group(0);
        assert!(matches!(group.column(1).compression(), Compression::ZSTD(_)));
        let rows = decode("parquet", bytes);
        assert!(rows.num_rows() > 60_000, "{}", rows.num_rows());
        assert!(csv(&rows) == text, "{buckets:?}");
        let wide = DataType::FixedSizeBinary(16);
        let (int, long) = (DataType::Int32, DataType::Int64);
        let mut expected =
            vec![int, DataType::Utf8, long.clone(), long.clone(), wide.clone(), wide];
        expected.extend((!buckets.is_empty()).then(|| long.clone()));
        expected.extend([DataType::UInt64, DataType::Utf8, DataType::Float64, long]);
        let schema = rows.schema();
        let found: Vec<_> = schema.fields().iter().map(|field| field.data_type()).collect();
        assert_eq!(found, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn row_groups_of_much_text_are_written_before_the_end() {
    let mut text = "net,note\n".to_owned();
    let mut state = 1u64;
    for n in 0..2_400 {
        write!(text, "10.0.{}.{}/32,", n >> 8, n & 0xff).unwrap();
        for _ in 0..1_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            write!(text, "{state:016x}").unwrap();
        }
        text.push('\n');
    }
    let (text, bytes) = compile(&text, &[]);
    let groups = parquet(&bytes).metadata().num_row_groups();
    assert!(groups > 1, "{groups}");
    assert!(csv(&decode("parquet", bytes)) == text);
}
