//! `longmatch annotate` with Parquet and Arrow IPC, and ranges of `longmatch compile`, run as a process.

#[path = "cli/common.rs"]
#[allow(dead_code, reason = "helpers that only other tests use")]
mod common;
#[path = "columnar/ranges.rs"]
mod ranges;

use std::collections::HashMap;
use std::fs;
use std::io::{Cursor, Write};
use std::process::{Output, Stdio};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, Float64Array, Int8Array, Int32Array, Int64Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMicrosecondArray, UInt32Array, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use common::{Dir, program};

/// The program that is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_longmatch");

const SITES: &str = "\
network,asn,site
10.0.0.0/8,64500,office
10.9.0.0/16,64501,\"lab, \"\"north\"\"\"
2001:db8::/32,64502,
";
/// Extensions of the formats: Parquet, an Arrow file, an Arrow stream.
const FORMATS: [&str; 3] = ["parquet", "arrow", "arrows"];

/// Writes batches in a format.
fn encode(format: &str, batches: &[RecordBatch]) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut bytes = Vec::new();
    match format {
        "parquet" => {
            let properties = WriterProperties::builder()
                .set_compression(Compression::LZ4_RAW)
                .set_max_row_group_row_count(Some(40_000))
                .build();
            let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        "arrow" => {
            let mut writer = FileWriter::try_new(&mut bytes, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let mut writer = StreamWriter::try_new(&mut bytes, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
    bytes
}

/// Reads the metadata of Parquet.
fn parquet(bytes: &[u8]) -> ParquetRecordBatchReaderBuilder<fs::File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap()
}

/// Reads all rows of a format as one batch.
fn decode(format: &str, bytes: Vec<u8>) -> RecordBatch {
    let (schema, batches): (SchemaRef, Result<Vec<_>, _>) = match format {
        "parquet" => {
            let builder = parquet(&bytes);
            (builder.schema().clone(), builder.build().unwrap().collect())
        }
        "arrow" => {
            let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
            (reader.schema(), reader.collect())
        }
        _ => {
            let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
            (reader.schema(), reader.collect())
        }
    };
    concat_batches(&schema, &batches.unwrap()).unwrap()
}

/// Runs `annotate` with the sites, and an input through a pipe.
fn annotate(dir: &Dir, args: &[&str], input: &[u8]) -> Output {
    let routes = dir.file("sites.csv", SITES);
    let mut command = program(&[&["annotate", "--routes", &routes], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The command may end before it has read all.
        let _ = pipe.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Runs `annotate` and returns standard output and standard error; the exit code is 0.
fn output(args: &[&str], input: &[u8]) -> (Vec<u8>, String) {
    let Output { status, stdout, stderr } = annotate(&Dir::new(), args, input);
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(0), "{args:?}: {stderr}");
    (stdout, stderr)
}

/// Runs `annotate` and returns its error; the exit code is 2.
fn error(args: &[&str], input: &[u8]) -> String {
    let Output { status, stderr, .. } = annotate(&Dir::new(), args, input);
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{args:?}: {stderr}");
    stderr
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn strings(cells: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(cells.to_vec()))
}

/// Addresses that match, one that does not, a missing, an empty and a bad one.
const ADDRESSES: [Option<&str>; 8] = [
    Some("10.1.2.3"),
    Some("10.9.0.1:443"),
    None,
    Some("[2001:db8::1]"),
    Some("nowhere"),
    Some("192.0.2.1"),
    Some("::ffff:10.0.0.1"),
    Some(""),
];
const ASNS: [Option<u64>; 8] =
    [Some(64500), Some(64501), None, Some(64502), None, None, Some(64500), None];

/// The numbers of autonomous systems that were added.
fn asns(batch: &RecordBatch) -> Vec<Option<u64>> {
    batch.column_by_name("asn").unwrap().as_primitive::<UInt64Type>().iter().collect()
}

#[test]
fn columns_are_added_in_every_format() {
    let metadata = HashMap::from([("origin".to_owned(), "sensor 7".to_owned())]);
    let field = Field::new("ip", DataType::Utf8, true).with_metadata(metadata.clone());
    let fields = vec![field, Field::new("n", DataType::Int32, false)];
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata.clone()));
    let columns = vec![strings(&ADDRESSES), Arc::new(Int32Array::from_iter_values(0..8)) as _];
    let input = RecordBatch::try_new(schema, columns.clone()).unwrap();
    for from in FORMATS {
        for to in FORMATS {
            let dir = Dir::new();
            let path = dir.path(&format!("out.{to}"));
            let args = ["--column", "ip", "--prefix-as", "net", "--flag", "hit", "-o", &path];
            let ended = annotate(&dir, &args, &encode(from, std::slice::from_ref(&input)));
            let stderr = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(ended.status.code(), Some(0), "{from} {to}: {stderr}");
            let counts = "standard input: 2 missing addresses, 1 bad, in 8 rows";
            assert!(stderr.contains(counts), "{stderr}");
            let rows = decode(to, fs::read(&path).unwrap());
            assert_eq!(rows.schema().metadata().get("origin").unwrap(), "sensor 7", "{from} {to}");
            assert_eq!(rows.schema().field(0).metadata().get("origin").unwrap(), "sensor 7");
            assert_eq!(&rows.columns()[..2], columns);
            assert_eq!(asns(&rows), ASNS);
            let lab = "lab, \"north\"";
            let office = Some("office");
            let sites = [office, Some(lab), None, None, None, None, office, None];
            assert_eq!(rows.column_by_name("site").unwrap(), &strings(&sites));
            let (office, lab) = (Some("10.0.0.0/8"), Some("10.9.0.0/16"));
            let nets = [office, lab, None, Some("2001:db8::/32"), None, None, office, None];
            assert_eq!(rows.column_by_name("net").unwrap(), &strings(&nets));
            let flags = nets.iter().map(|net| Some(net.is_some())).collect::<BooleanArray>();
            assert_eq!(rows.column_by_name("hit").unwrap().as_boolean(), &flags);
        }
    }
}

/// Returns an array of every accepted type with 10.1.2.3, null and 10.9.0.1.
fn accepted() -> Vec<ArrayRef> {
    let text = [Some("10.1.2.3"), None, Some("10.9.0.1")];
    let numbers = [Some(0x0a01_0203u32), None, Some(0x0a09_0001)];
    let bytes: [Option<&[u8]>; 3] = [Some(&[10, 1, 2, 3]), None, Some(&[10, 9, 0, 1])];
    let mapped = |last: [u8; 4]| [vec![0; 10], vec![0xff; 2], last.to_vec()].concat();
    let wide = [Some(mapped([10, 1, 2, 3])), None, Some(mapped([10, 9, 0, 1]))];
    let fixed = |cells: Vec<Option<Vec<u8>>>, size| -> ArrayRef {
        Arc::new(
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells.into_iter(), size).unwrap(),
        )
    };
    let narrow = bytes.iter().map(|cell| cell.map(<[u8]>::to_vec)).collect();
    let keys = Int8Array::from(vec![Some(1), None, Some(0)]);
    let values: ArrayRef = Arc::new(BinaryArray::from(vec![bytes[2], bytes[0]]));
    vec![
        strings(&text),
        Arc::new(LargeStringArray::from(text.to_vec())),
        Arc::new(StringViewArray::from(text.to_vec())),
        Arc::new(text.iter().copied().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(DictionaryArray::new(keys, values)),
        Arc::new(BinaryArray::from(bytes.to_vec())),
        Arc::new(LargeBinaryArray::from(bytes.to_vec())),
        Arc::new(BinaryViewArray::from_iter(bytes)),
        fixed(narrow, 4),
        fixed(wide.to_vec(), 16),
        Arc::new(UInt32Array::from(numbers.to_vec())),
        Arc::new(Int32Array::from(numbers.map(|n| n.map(u32::cast_signed)).to_vec())),
        Arc::new(UInt64Array::from(numbers.map(|n| n.map(u64::from)).to_vec())),
        Arc::new(Int64Array::from(numbers.map(|n| n.map(i64::from)).to_vec())),
    ]
}

#[test]
fn addresses_have_many_types() {
    for array in accepted() {
        for format in FORMATS {
            let input = batch(vec![("ip", array.clone())]);
            let (stdout, _) = output(&["--column", "ip"], &encode(format, &[input]));
            let rows = decode(format, stdout);
            let expected = [Some(64500), None, Some(64501)];
            assert_eq!(asns(&rows), expected, "{format} {}", array.data_type());
            assert_eq!(rows.column(0), &array, "{format}");
        }
    }
}

#[test]
fn other_types_and_options_are_refused() {
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let input = encode("arrows", &[batch(vec![("f", floats), ("ip", strings(&[None]))])]);
    let refused = error(&["--column", "f"], &input);
    assert!(refused.contains("--column: 'f' has the type Float64: it may be text"), "{refused}");
    let cases: [(&[&str], &str); 12] = [
        (&["--column", "x"], "no column is named 'x'; the input has: f, ip"),
        (
            &[],
            "the input is an Arrow stream: name the columns with addresses with --column; it has: f, ip",
        ),
        (&["--field", "ip"], "--field is for text"),
        (&["--regex", "x"], "--regex is for text"),
        (&["--column", "ip", "--any"], "--any is for text"),
        (
            &["--column", "ip", "--default", "x"],
            "--default: 'x' cannot stand in the column 'asn' of numbers (u64)",
        ),
        (&["--column", "ip", "--compress", "xz"], "Arrow has neither gzip, bzip2 nor xz"),
        (&["--column", "ip", "--delimiter", "tab"], "--delimiter is for text"),
        (&["--column", "ip", "--as", "f,site"], "the input has a column 'f' already, number 1"),
        (&["--column", "ip", "--compress", "gzip"], "Arrow has neither gzip, bzip2 nor xz"),
        (&["--column", "ip", "-o", "x.parquet.gz"], "Parquet and Arrow are compressed inside"),
        (&["--column", "ip", "--as", "f"], "1 name for 2 added columns"),
    ];
    for (args, expected) in cases {
        let refused = error(args, &input);
        assert!(refused.contains(expected), "{args:?}: {refused}");
    }
    let refused = error(&["--column", "ip", "-o", "x.parquet"], b"ip\n10.1.1.1\n");
    assert!(refused.contains("the name is that of Parquet, but the input is text"), "{refused}");
    let input = encode("parquet", &[batch(vec![("ip", strings(&[None]))])]);
    let refused = error(&["--column", "ip", "--compress", "bzip2"], &input);
    assert!(refused.contains("Parquet has neither bzip2 nor xz"), "{refused}");
}

/// `--default` stands for each value that is null: of addresses without a prefix, of no address, and of rows.
#[test]
fn default_values_and_counts() {
    let ips = [Some("10.1.1.1"), Some("192.0.2.1"), None, Some("2001:db8::1"), Some("x")];
    for format in FORMATS {
        let input = encode(format, &[batch(vec![("ip", strings(&ips))])]);
        let (stdout, _) = output(&["--column", "ip", "--add", "asn", "--default", "0"], &input);
        let expected = [64500, 0, 0, 64502, 0].map(Some);
        assert_eq!(asns(&decode(format, stdout)), expected, "{format}");
        let args = ["--column", "ip", "--add", "site", "--prefix-as", "net", "--default", "-"];
        let rows = decode(format, output(&args, &input).0);
        let expected = [Some("office"), Some("-"), Some("-"), Some("-"), Some("-")];
        assert_eq!(rows.column(1), &strings(&expected), "{format}");
        let expected = [Some("10.0.0.0/8"), Some("-"), Some("-"), Some("2001:db8::/32"), Some("-")];
        assert_eq!(rows.column(2), &strings(&expected), "{format}");
        for (filter, expected) in [("--match", "2\n"), ("--no-match", "3\n")] {
            let (stdout, _) = output(&["--column", "ip", filter, "--count"], &input);
            assert_eq!(String::from_utf8(stdout).unwrap(), expected, "{format} {filter}");
        }
    }
}

/// Columns of nested and other types, as long as `ADDRESSES`.
fn nested() -> Vec<(&'static str, ArrayRef)> {
    let mut list = ListBuilder::new(Int64Builder::new());
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for n in 0..8 {
        list.append_value((0..n % 3).map(Some));
        map.keys().append_value(format!("key {n}"));
        map.values().append_option((n > 4).then_some(n));
        map.append(n != 2).unwrap();
    }
    let dictionary: DictionaryArray<Int8Type> =
        ["a", "b", "a", "c", "a", "b", "b", "c"].into_iter().collect();
    let times = TimestampMicrosecondArray::from_iter_values(0..8).with_timezone("UTC");
    let money = Decimal128Array::from_iter_values((0..8).map(|n| n * 1_000_007));
    // Below the null struct there is an address, which does not count.
    let fields =
        vec![Field::new("ip", DataType::Utf8, true), Field::new("port", DataType::Int32, true)];
    let ports = Int32Array::from_iter_values(0..8);
    let nulls = NullBuffer::from(vec![false, true, true, true, true, true, true, true]);
    let columns = vec![strings(&ADDRESSES), Arc::new(ports) as ArrayRef];
    let source = StructArray::new(fields.into(), columns, Some(nulls));
    vec![
        ("src", Arc::new(source)),
        ("list", Arc::new(list.finish())),
        ("map", Arc::new(map.finish())),
        ("dictionary", Arc::new(dictionary)),
        ("time", Arc::new(times)),
        ("money", Arc::new(money.with_precision_and_scale(20, 3).unwrap())),
    ]
}

#[test]
fn nested_columns_pass_through_and_fields_have_addresses() {
    let input = batch(nested());
    for format in FORMATS {
        let (stdout, _) =
            output(&["--column", "src.ip"], &encode(format, std::slice::from_ref(&input)));
        let rows = decode(format, stdout);
        assert_eq!(&rows.columns()[1..6], &input.columns()[1..6], "{format}");
        assert_eq!(rows.column(0).data_type(), input.column(0).data_type());
        let mut expected = ASNS;
        expected[0] = None;
        assert_eq!(asns(&rows), expected, "{format}");
        let ports = rows.column(0).as_struct().column(1).as_primitive::<Int32Type>();
        assert_eq!(ports.value(7), 7);
    }
}

#[test]
fn several_columns_have_names_of_their_own() {
    let input =
        batch(vec![("a", strings(&[Some("10.1.1.1")])), ("b", strings(&[Some("10.9.1.1")]))]);
    let (stdout, _) = output(&["--column", "a,b", "--add", "asn"], &encode("arrows", &[input]));
    let rows = decode("arrows", stdout);
    let names: Vec<_> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["a", "b", "a_asn", "b_asn"]);
    let asn = |column| rows.column(column).as_primitive::<UInt64Type>().value(0);
    assert_eq!((asn(2), asn(3)), (64500, 64501));
}

/// 100,000 rows in batches of different sizes: addresses as text.
fn many() -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    let mut n = 0u32;
    for size in [1, 999, 70_000, 0, 29_000] {
        let cell = |n: u32| match n % 11 {
            0 => None,
            1 => Some("bad".to_owned()),
            2 => Some(format!("2001:db8::{:x}", n & 0xffff)),
            3 => Some(format!("192.0.2.{}", n & 255)),
            _ => Some(format!("10.{}.{}.{}", n % 13, n >> 8 & 255, n & 255)),
        };
        let cells: StringArray = (n..n + size).map(cell).collect();
        let numbers = UInt32Array::from_iter_values(n..n + size);
        batches.push(batch(vec![("n", Arc::new(numbers)), ("ip", Arc::new(cells))]));
        n += size;
    }
    batches
}

#[test]
fn threads_do_not_matter_and_csv_agrees() {
    let batches = many();
    let mut csv = String::from("n,ip\n");
    for batch in &batches {
        let ips = batch.column(1).as_string::<i32>();
        let numbers = batch.column(0).as_primitive::<arrow_array::types::UInt32Type>();
        for (n, ip) in numbers.iter().flatten().zip(ips) {
            csv.push_str(&format!("{n},{}\n", ip.unwrap_or_default()));
        }
    }
    let common = ["--column", "ip", "--prefix-as", "net", "--threads"];
    let (text, _) = output(&[&common[..], &["2"]].concat(), csv.as_bytes());
    let text = String::from_utf8(text).unwrap();
    for format in FORMATS {
        let input = encode(format, &batches);
        let (one, messages) = output(&[&common[..], &["1"]].concat(), &input);
        let (two, _) = output(&[&common[..], &["2"]].concat(), &input);
        assert!(one == two, "{format}");
        assert!(messages.contains("9,091 missing addresses"), "{messages}");
        let rows = decode(format, one);
        assert_eq!(rows.num_rows(), 100_000);
        let column = |name| rows.column_by_name(name).unwrap().as_string::<i32>().clone();
        let (ips, sites, nets) = (column("ip"), column("site"), column("net"));
        let cell = |array: &StringArray, row| match array.is_valid(row) {
            true => array.value(row).to_owned(),
            false => String::new(),
        };
        let asns = asns(&rows);
        for (row, line) in text.lines().skip(1).enumerate() {
            let asn = asns[row].map(|asn| asn.to_string()).unwrap_or_default();
            let site = cell(&sites, row).replace("lab, \"north\"", "\"lab, \"\"north\"\"\"");
            let expected = format!("{row},{},{asn},{site},{}", cell(&ips, row), cell(&nets, row));
            assert_eq!(line, expected);
        }
    }
}

#[test]
fn filters_keep_rows() {
    for format in FORMATS {
        let input = encode(format, &many());
        let (stdout, _) = output(&["--column", "ip", "--match"], &input);
        let matching = decode(format, stdout);
        let (stdout, _) = output(&["--column", "ip", "--no-match", "--add", "asn"], &input);
        let others = decode(format, stdout);
        assert_eq!(matching.num_rows() + others.num_rows(), 100_000);
        assert_eq!((matching.num_columns(), others.num_columns()), (2, 3));
        assert!(asns(&others).iter().all(Option::is_none));
        let cells = matching.column(1).as_string::<i32>();
        assert!(cells.iter().flatten().all(|ip| ip.starts_with("10.") || ip.starts_with("2001:")));
        let none = encode(format, &[batch(vec![("ip", strings(&[Some("192.0.2.1")]))])]);
        let ended = annotate(&Dir::new(), &["--column", "ip", "--match"], &none);
        assert_eq!(ended.status.code(), Some(1));
        assert_eq!(decode(format, ended.stdout).num_rows(), 0);
    }
}

#[test]
fn row_groups_and_compression_of_parquet_are_those_of_the_input() {
    let input = encode("parquet", &many());
    let metadata = |args: &[&str]| {
        let (stdout, _) = output(args, &input);
        let metadata = parquet(&stdout).metadata().clone();
        let rows: Vec<_> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
        (rows, metadata.row_group(0).column(0).compression())
    };
    let (rows, codec) = metadata(&["--column", "ip"]);
    assert_eq!((&rows[..], codec), (&[40_000, 40_000, 20_000][..], Compression::LZ4_RAW));
    // What a filter leaves is collected.
    let (rows, codec) = metadata(&["--column", "ip", "--no-match", "--compress", "none"]);
    assert_eq!((rows.len(), codec), (1, Compression::UNCOMPRESSED));
}

#[test]
fn strict_names_the_row_and_the_column() {
    let good = batch(vec![("ip", strings(&[Some("10.1.1.1"), Some("10.1.1.2")]))]);
    let bad = batch(vec![("ip", strings(&[Some("10.1.1.1"), Some("no\nwhere"), None]))]);
    for format in FORMATS {
        let input = encode(format, &[good.clone(), bad.clone()]);
        let refused = error(&["--column", "ip", "--strict"], &input);
        let expected = "standard input, row 4: column 'ip': 'no\\nwhere' is not an address";
        assert!(refused.contains(expected), "{refused}");
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1 << 32]));
    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"10.1.2.3"[..]]));
    let missing = strings(&[Some(" ")]);
    let cases = [
        (numbers, "4294967296 is not an IPv4 address"),
        (bytes, "8 bytes are not an address: IPv4 has 4"),
        (missing, "no address"),
    ];
    for (array, expected) in cases {
        let input = encode("arrows", &[batch(vec![("ip", array)])]);
        let refused = error(&["--column", "ip", "--strict"], &input);
        assert!(refused.contains(&format!("row 1: column 'ip': {expected}")), "{refused}");
    }
}

#[test]
fn damage_is_an_error_and_leaves_no_output() {
    let dictionary: DictionaryArray<Int32Type> = (0..500).map(|n| ["a", "b"][n % 2]).collect();
    let ips: StringArray = (0..500).map(|n| Some(format!("10.0.{}.1", n & 255))).collect();
    let part = batch(vec![("d", Arc::new(dictionary)), ("ip", Arc::new(ips))]);
    for format in FORMATS {
        let whole = encode(format, &[part.clone(), part.clone()]);
        for cut in [9, 40, whole.len() / 3, whole.len() / 2, whole.len() - 20, whole.len() - 9] {
            let dir = Dir::new();
            let path = dir.path(&format!("out.{format}"));
            let ended = annotate(&dir, &["--column", "ip", "-o", &path], &whole[..cut]);
            let stderr = String::from_utf8(ended.stderr).unwrap();
            assert!(!stderr.contains("panicked"), "{format} cut at {cut}: {stderr}");
            // A stream may end after any message, without the mark of its end.
            if format != "arrows" || cut < whole.len() - 9 {
                assert_eq!(ended.status.code(), Some(2), "{format} cut at {cut}: {stderr}");
                assert!(stderr.contains("but is damaged or not supported"), "{stderr}");
                assert!(fs::metadata(&path).is_err());
            }
        }
        // Damage within: any result but a crash.
        for at in (8..whole.len() - 8).step_by(whole.len() / 40) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            let ended = annotate(&Dir::new(), &["--column", "ip"], &damaged);
            assert!(matches!(ended.status.code(), Some(0 | 2)), "{format} at {at}: {ended:?}");
        }
    }
}

#[test]
fn files_and_compressed_streams_are_read() {
    let dir = Dir::new();
    let part = batch(vec![("ip", strings(&ADDRESSES))]);
    let sites = dir.file("sites.csv", SITES);
    for format in FORMATS {
        let input = encode(format, std::slice::from_ref(&part));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&input).unwrap();
        for bytes in [input, gzip.finish().unwrap()] {
            let path = dir.file("input", bytes);
            let args = ["annotate", "--routes", &sites, "--column", "ip", &path];
            let ended = program(&args).output().unwrap();
            assert_eq!(asns(&decode(format, ended.stdout)), ASNS, "{format}");
            let mut command = program(&args[..5]);
            let ended = command.stdin(fs::File::open(&path).unwrap()).output().unwrap();
            assert_eq!(asns(&decode(format, ended.stdout)), ASNS, "{format}");
        }
    }
    let input = dir.file("in.arrow", encode("arrow", &[part]));
    let ended = program(&["annotate", "-r", &sites, "-c", "ip", &input, "-o", &input]).output();
    let stderr = String::from_utf8(ended.unwrap().stderr).unwrap();
    assert!(stderr.contains("the output is the input"), "{stderr}");
}

#[test]
fn a_stream_is_annotated_as_it_comes() {
    let dir = Dir::new();
    let sites = dir.file("sites.csv", SITES);
    let part = batch(vec![("ip", strings(&ADDRESSES))]);
    let mut command = program(&["annotate", "--routes", &sites, "--column", "ip"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let pipe = child.stdin.take().unwrap();
    let mut writer = StreamWriter::try_new(pipe, &part.schema()).unwrap();
    writer.write(&part).unwrap();
    writer.flush().unwrap();
    let mut reader = StreamReader::try_new(child.stdout.take().unwrap(), None).unwrap();
    // The input has not ended.
    assert_eq!(asns(&reader.next().unwrap().unwrap()), ASNS);
    writer.finish().unwrap();
    drop(writer);
    assert!(reader.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_no_output() {
    use rustix::process::{Pid, Signal, kill_process};
    let dir = Dir::new();
    let sites = dir.file("sites.csv", SITES);
    let out = dir.path("out.arrow");
    let part = batch(vec![("ip", strings(&ADDRESSES))]);
    let mut command = program(&["annotate", "--routes", &sites, "--column", "ip", "-o", &out]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut writer = StreamWriter::try_new(child.stdin.take().unwrap(), &part.schema()).unwrap();
    writer.write(&part).unwrap();
    writer.flush().unwrap();
    let files = || -> Vec<_> {
        let entries = fs::read_dir(std::path::Path::new(&sites).parent().unwrap()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    // Signals are handled before the temporary file exists.
    while files().len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ends too early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("interrupted after") && stderr.contains("nothing is written"));
    assert_eq!(files(), ["sites.csv"]);
}
