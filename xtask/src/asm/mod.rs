//! `cargo xtask asm`: the machine code of the kernels' loops, compared with the golden file.
//!
//! The package `xtask-kernels` uses every engine. It and the library are compiled to assembly text, in one codegen unit
//! so that the order of items does not matter. The calls of each kernel are followed through both texts, and the loops
//! of each function reached are counted. The two functions that choose a level are left out, as they may contain the
//! code of several kernels. The benchmarks are compiled with them, because their loops have a rule: [`timed`].

mod function;
mod instruction;
mod listing;
mod loops;
mod name;
mod timed;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::steps::{CommandResult, OutputMode, StepResult, Steps};
use crate::workspace::{Compiler, cargo, root, target};
use function::{Function, LoopCounts};
use listing::Listing;

/// The function that looks addresses up in tables one by one.
const ADDRESSES: &str = "xtask_kernels::addresses";
/// Part of the names of functions that it must not call.
const TABLES: &str = "table::";

/// The golden file.
const GOLDEN: &str = "testdata/asm/x86_64.txt";
/// Start of the names of kernels: the function of the package that uses every engine, for a family and a structure.
const KERNELS: &str = "xtask_kernels::kernel::<";
/// Name of the library's function that chooses the level.
const CHOOSES: &str = "<Simd>::run<";
/// Overrides the flags of the environment and of the configuration: the code must not depend on them.
const RUSTFLAGS: &str = "--emit=asm -Ccodegen-units=1 -Csymbol-mangling-version=v0";

/// Runs the command by itself, and returns whether the counts equal the golden file.
pub fn run(mode: OutputMode) -> CommandResult {
    let mut steps = Steps::default();
    step(&mut steps, mode);
    Ok(steps.finish())
}

/// Runs the command as a step.
pub fn step(steps: &mut Steps, mode: OutputMode) {
    let name = "machine code of the kernels";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        steps.skip(name, "the golden file is for x86-64 Linux only");
        return;
    }
    steps.step(name, || match check(mode) {
        Ok(verdict) => verdict,
        Err(error) => StepResult::Failed(error.to_string()),
    });
}

fn check(mode: OutputMode) -> Result<StepResult, Box<dyn Error>> {
    let Compiler { version, host } = Compiler::find()?;
    let functions = compile(&host)?;
    let mut faults = timed::faults(&functions);
    faults.extend(called_for_addresses(&functions));
    if !faults.is_empty() {
        faults.iter().for_each(|fault| println!("{fault}"));
        return Ok(StepResult::Failed(format!("{} fault(s) in loops of lookups", faults.len())));
    }
    let now = list(&functions, format!("{version}, {host}"))?;
    let path = root().join(GOLDEN);
    if mode == OutputMode::Write {
        fs::write(path, now.render())?;
        println!("{} functions written to {GOLDEN}", now.functions.len());
        return Ok(StepResult::Passed);
    }
    let golden = fs::read_to_string(path).map_err(|error| format!("{GOLDEN}: {error}"))?;
    let golden = Listing::parse(&golden).map_err(|error| format!("{GOLDEN}: {error}"))?;
    if golden.compiler != now.compiler {
        println!("the golden file is of {}; this compiler is {}:", golden.compiler, now.compiler);
        println!(
            "only gathers, calls and instructions of each function are compared, with tolerance; all counts are with that \
             compiler (`rustup toolchain install VERSION`, `cargo +VERSION xtask asm`)"
        );
    }
    let differences = golden.differences(&now);
    if differences.is_empty() {
        println!("{} functions compared", golden.functions.len());
        return Ok(StepResult::Passed);
    }
    differences.iter().for_each(|difference| println!("{difference}"));
    Ok(StepResult::Failed(format!(
        "{} function(s) differ from {GOLDEN}; if the change is intended and no slower, run `cargo xtask asm --bless`",
        differences.len()
    )))
}

/// Compiles the kernels, the benchmarks and their dependencies for the host, and returns all functions by their
/// symbols.
fn compile(host: &str) -> Result<HashMap<String, Function>, Box<dyn Error>> {
    let output = cargo("build --release --package xtask-kernels --package longmatch-bench")
        .args(["--message-format=json-render-diagnostics", "--target", host, "--target-dir"])
        .arg(target().join("asm"))
        .env("RUSTFLAGS", RUSTFLAGS)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("CARGO_INCREMENTAL", "0")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the kernels do not compile: {}", output.status).into());
    }
    let mut functions = HashMap::new();
    for file in assembly_files(&String::from_utf8(output.stdout)?, host) {
        let text =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        functions.extend(function::parse(&text));
    }
    Ok(functions)
}

/// Returns the assembly files of the packages in cargo's messages, one JSON object a line. Each file is beside the
/// package's metadata, and only the messages distinguish current files from old ones. What runs in the compiler has
/// none, and is not in the target's directory.
fn assembly_files(messages: &str, host: &str) -> Vec<PathBuf> {
    let artifacts = messages.lines().filter(|line| line.contains(r#""compiler-artifact""#));
    let metadata = artifacts.flat_map(|line| line.split('"'));
    let metadata = metadata.filter(|word| word.ends_with(".rmeta") && word.contains(host));
    let beside = |metadata: &str| {
        let path = Path::new(metadata);
        let name = path.file_stem()?.to_str()?.strip_prefix("lib")?;
        Some(path.with_file_name(name).with_extension("s"))
    };
    metadata.filter_map(beside).collect()
}

/// Returns what breaks the rule for lookups of single addresses, one line each: all of a table's code is inlined but the
/// lookup in the structure. An address that is passed in memory costs as much as that lookup.
fn called_for_addresses(functions: &HashMap<String, Function>) -> Vec<String> {
    let Some(symbol) = functions.keys().find(|symbol| name::readable(symbol) == ADDRESSES) else {
        return vec![format!("{ADDRESSES} is not found")];
    };
    let callees = functions[symbol].symbols.iter().filter(|callee| functions.contains_key(*callee));
    let callees = callees.map(|callee| name::readable(callee));
    let callees = callees.filter(|callee| callee.contains(TABLES));
    callees.map(|callee| format!("{ADDRESSES} calls {callee}")).collect()
}

/// Counts the loops of every kernel, in the functions that it reaches.
///
/// # Errors
/// If there is no kernel, so that nothing would be compared.
fn list(
    functions: &HashMap<String, Function>,
    compiler: String,
) -> Result<Listing, Box<dyn Error>> {
    let mut counted = BTreeMap::new();
    for symbol in functions.keys() {
        if let Some(kernel) = kernel(symbol) {
            counted.extend(
                callees(symbol, functions).map(|(name, loops)| ((kernel.clone(), name), loops)),
            );
        }
    }
    if counted.is_empty() {
        return Err("no kernel is found in the assembly text".into());
    }
    Ok(Listing { compiler, functions: counted })
}

/// Returns the engine and the family of a kernel, such as `poptrie_ipv4`: the engine is the module of its structure.
fn kernel(symbol: &str) -> Option<String> {
    let name = format!("{:#}", rustc_demangle::demangle(symbol));
    let (family, structure) = name.strip_prefix(KERNELS)?.split_once(", ")?;
    let family = family.rsplit("::").next()?.to_lowercase();
    let engine = structure.strip_prefix("longmatch::engine::")?.split("::").next()?;
    Some(format!("{engine}_{family}"))
}

/// Returns the functions with loops that a kernel reaches, by their readable names.
fn callees(
    kernel: &str,
    functions: &HashMap<String, Function>,
) -> impl Iterator<Item = (String, Vec<LoopCounts>)> {
    let mut callees: Vec<_> = reached(kernel, functions)
        .into_iter()
        .filter(|callee| *callee != kernel)
        .map(|callee| (name::readable(callee), functions[callee].loops()))
        .filter(|(name, loops)| !name.starts_with(CHOOSES) && !loops.is_empty())
        .collect();
    // Not ordered by symbol, as symbols contain numbers that depend on the path of the sources. Two packages may have
    // the same function; if their code differs, it is listed for each.
    callees.sort();
    callees.dedup();
    let mut namesakes = BTreeMap::new();
    callees.into_iter().map(move |(name, loops)| {
        let number = namesakes.entry(name.clone()).or_insert(0);
        *number += 1;
        (if *number == 1 { name } else { format!("{name} ({number})") }, loops)
    })
}

/// Returns a function and all that it calls, among these functions.
fn reached<'a>(symbol: &'a str, functions: &'a HashMap<String, Function>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([symbol]);
    let mut todo = vec![symbol];
    while let Some(symbol) = todo.pop() {
        for named in &functions[symbol].symbols {
            if functions.contains_key(named) && reached.insert(named) {
                todo.push(named);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembly_lies_beside_the_metadata() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","filenames":["/t/x/release/libk.rlib","/t/x/deps/libk-1a.rmeta"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","filenames":["/t/release/deps/libmacro-2b.rmeta"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(assembly_files(messages, "/x/"), [PathBuf::from("/t/x/deps/k-1a.s")]);
    }

    #[test]
    fn reached_functions_are_counted() {
        let text = "\
\t.type\txtask_kernels::kernel::<longmatch::net::Ipv4, longmatch::engine::new::New>,@function
xtask_kernels::kernel::<longmatch::net::Ipv4, longmatch::engine::new::New>:
\tcallq\tlookup
\tjmp\tnowhere
.Lfunc_end0:
\t.type\tlookup,@function
lookup:
.LBB1_1:
\tdecq\t%rax
\tjne\t.LBB1_1
\tretq
.Lfunc_end1:
\t.type\tlookup_more,@function
lookup_more:
.LBB2_1:
\tdecq\t%rax
\tjne\t.LBB2_1
\tretq
.Lfunc_end2:
";
        // Not mangled, for readability; demangling does not change such a name.
        let functions = function::parse(text);
        let listing = list(&functions, String::new()).expect("a kernel");
        let names: Vec<_> = listing.functions.keys().collect();
        assert_eq!(names, [&("new_ipv4".to_owned(), "lookup".to_owned())]);
        assert!(list(&HashMap::new(), String::new()).is_err());
    }
}
