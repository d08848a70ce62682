//! The commands about filters.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::output::warn;
use longmatch_cli::paths::named;
use longmatch_filter::{
    Addresses, Content, FilterError, Hook, Match, Policy, Running, Safety, Setup, Start, XdpMode,
    is_bpf_file_system, safety,
};

use longmatch_router::http;

use super::args::{
    ChangeArgs, Command, CountersArgs, FateArg, GetArgs, HookArg, MatchArg, QuestionArgs,
    ReplaceArgs, StartArgs, WhichArgs, XdpModeArg,
};
use super::print::Printer;
use super::{lists, metrics};

/// Runs a command.
///
/// # Errors
/// If the filter cannot do it, a list cannot be read, or standard output not be written.
pub fn run(command: &Command) -> Outcome {
    match command {
        Command::Start(args) => start(args),
        Command::Status(args) => status(args),
        Command::Counters(args) => counters(args),
        Command::List(args) => {
            let running = open(&args.which)?;
            Printer::new(args.json).parts(&running)?;
            Ok(Status::Ok)
        }
        Command::Get(args) => get(args),
        Command::Add(args) => change(args, Addresses::union),
        Command::Remove(args) => change(args, Addresses::difference),
        Command::Replace(args) => replace(args),
        Command::Confirm(which) => confirm(which),
        Command::Detach(which) => {
            open(which)?.detach().map_err(|error| failed(&error))?;
            Ok(Status::Ok)
        }
        Command::Completions(_) | Command::Man(_) | Command::Licences => Ok(Status::Ok),
    }
}

fn failed(error: &FilterError) -> CliError {
    CliError::new(error.to_string())
}

fn hook(which: &WhichArgs) -> Hook {
    match which.hook {
        HookArg::Xdp => Hook::Xdp,
        HookArg::Ingress => Hook::Ingress,
        HookArg::Egress => Hook::Egress,
    }
}

fn open(which: &WhichArgs) -> Result<Running, CliError> {
    Running::open(&which.interface, hook(which), &which.pins).map_err(|error| failed(&error))
}

fn start(args: &StartArgs) -> Outcome {
    let lists = lists::of(&args.lists)?;
    let hook = hook(&args.which);
    let matched = match args.lists.matched {
        Some(MatchArg::Source) => Match::Source,
        Some(MatchArg::Destination) => Match::Destination,
        Some(MatchArg::Both) => Match::Both,
        None if hook == Hook::Egress => Match::Destination,
        None => Match::Source,
    };
    let (policy_lists, paths): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
    let policy = Policy {
        lists: policy_lists,
        matched,
        scoped: args.lists.to.is_some(),
        drop_others: args.lists.default == FateArg::Drop,
    };
    let safety = (!args.no_safety).then(find_safety).transpose()?;
    let content = content(&paths, args.lists.to.as_deref(), &args.lists.read, safety.as_ref())?;
    let is_kept = is_bpf_file_system(&args.which.pins);
    let start = Start {
        interface: args.which.interface.clone(),
        setup: Setup {
            hook,
            ethernet: true,
            policy,
            drop_unknown: args.unknown == FateArg::Drop,
            dry_run: args.dry_run,
        },
        mode: match args.xdp_mode {
            XdpModeArg::Auto => XdpMode::Auto,
            XdpModeArg::Native => XdpMode::Native,
            XdpModeArg::Generic => XdpMode::Generic,
        },
        files: paths.iter().map(|path| lists::lasting(path)).collect::<Result<_, _>>()?,
        scope_file: args.lists.to.as_deref().map(lists::lasting).transpose()?,
        safety,
        confirm: args.confirm,
        pins: is_kept.then(|| args.which.pins.clone()),
    };
    let running = Running::start(start, &content).map_err(|error| failed(&error))?;
    drop(content);
    Printer::new(args.json).status(&running)?;
    if !is_kept {
        let pins = args.which.pins.display();
        warn(format_args!(
            "{pins} is in no file system of BPF: the filter ends with this process. `mount -t bpf bpf /sys/fs/bpf` \
             mounts one, which keeps filters"
        ));
        wait()?;
    }
    Ok(Status::Ok)
}

/// Waits for a signal to end.
fn wait() -> Result<(), CliError> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register(signal, ended.clone());
        registered.map_err(|error| CliError::input("signals", error))?;
    }
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn find_safety() -> Result<Safety, CliError> {
    safety().map_err(|error| failed(&FilterError::Netlink(error)))
}

/// Reads all lists.
fn content(
    paths: &[PathBuf],
    scope: Option<&Path>,
    read: &longmatch_cli::args::ReadArgs,
    safety: Option<&Safety>,
) -> Result<Content, CliError> {
    let lists = paths.iter().map(|path| lists::addresses(path, read)).collect::<Result<_, _>>()?;
    let scope = scope.map(|path| lists::addresses(path, read)).transpose()?.unwrap_or_default();
    let (safe, own) = match safety {
        Some(safety) => (safety.safe(), safety.local()),
        None => (Addresses::default(), Addresses::default()),
    };
    Ok(Content { lists, scope, safe, own })
}

fn status(args: &QuestionArgs) -> Outcome {
    Printer::new(args.json).status(&open(&args.which)?)?;
    Ok(Status::Ok)
}

fn counters(args: &CountersArgs) -> Outcome {
    let running = open(&args.which)?;
    if let Some(address) = args.metrics {
        // Opened for each request: another process may have started the filter again.
        let (which, metrics) = (args.which.clone(), move |which: &WhichArgs| {
            let running = open(which).ok()?;
            let counts = running.filter().counts().ok()?;
            metrics::text(&running, counts).ok()
        });
        http::serve(address, move || metrics(&which))?;
        wait()?;
        return Ok(Status::Ok);
    }
    let mut printer = Printer::new(args.json);
    loop {
        let counts = running.filter().counts().map_err(|error| failed(&error))?;
        printer.counts(&running, &counts)?;
        let Some(seconds) = args.interval else { return Ok(Status::Ok) };
        thread::sleep(Duration::from_secs_f64(seconds));
    }
}

fn get(args: &GetArgs) -> Outcome {
    let running = open(&args.which)?;
    let mut printer = Printer::new(args.json);
    let mut passes = true;
    for address in &args.addrs {
        let found = running.filter().find(*address).map_err(|error| failed(&error))?;
        passes &= printer.found(&running, *address, &found)?;
    }
    Ok(Status::ok_if(passes))
}

fn replace(args: &ReplaceArgs) -> Outcome {
    let mut running = open(&args.which)?;
    let lock = running.lock().map_err(|error| failed(&error))?;
    let mut files = running.about().files.clone();
    let lists = running.filter().setup().policy.lists.clone();
    for given in &args.files {
        let unknown = || {
            let names: Vec<_> = lists.iter().map(|list| &*list.name).collect();
            let names = names.join(", ");
            CliError::input(
                given.display(),
                format_args!("expected NAME=FILE; the lists are: {names}"),
            )
        };
        let (name, path) = named(given).ok_or_else(unknown)?;
        let place = lists.iter().position(|list| list.name == name).ok_or_else(unknown)?;
        files[place] = lists::lasting(path)?;
    }
    let scope = running.about().scope_file.clone();
    let mut safety = running.about().safety.clone();
    if let Some(safety) = &mut safety {
        safety.add(find_safety()?);
    }
    let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let content = content(&paths, scope.as_deref().map(Path::new), &args.read, safety.as_ref())?;
    running.replace(&content).map_err(|error| failed(&error))?;
    running.remember(files, scope, safety).map_err(|error| failed(&error))?;
    drop(lock);
    Ok(Status::Ok)
}

/// Changes a list in the kernel.
fn change(args: &ChangeArgs, operation: impl Fn(&Addresses, &Addresses) -> Addresses) -> Outcome {
    let mut running = open(&args.which)?;
    let lock = running.lock().map_err(|error| failed(&error))?;
    let lists = &running.filter().setup().policy.lists;
    let place = lists.iter().position(|list| list.name == args.list).ok_or_else(|| {
        let names: Vec<_> = lists.iter().map(|list| &*list.name).collect();
        CliError::input(
            &args.list,
            format_args!("no list has this name; the lists are: {}", names.join(", ")),
        )
    })?;
    let safety = running.about().safety.clone();
    let prefixes: Addresses = args.prefixes.iter().copied().collect();
    let apply = |content: &mut Content| {
        if let Some(safety) = &safety {
            (content.safe, content.own) = (safety.safe(), safety.local());
        }
        content.lists[place] = operation(&content.lists[place], &prefixes);
    };
    let patched = match *args.prefixes {
        [prefix] => running.patch(prefix.unmapped(), apply),
        _ => Ok(false),
    };
    if !patched.map_err(|error| failed(&error))? {
        let mut content = running.filter().content().map_err(|error| failed(&error))?;
        apply(&mut content);
        running.replace(&content).map_err(|error| failed(&error))?;
    }
    drop(lock);
    Ok(Status::Ok)
}

fn confirm(which: &WhichArgs) -> Outcome {
    let running = open(which)?;
    match running.filter().remaining() {
        Some(Duration::ZERO) => Err(CliError::input(
            &which.interface,
            "the time to confirm is over, and all packets pass: detach the filter and start it again",
        )),
        None => {
            warn(format_args!("{}: the filter is confirmed already", which.interface));
            Ok(Status::Ok)
        }
        Some(_) => {
            running.filter().set_remaining(None);
            Ok(Status::Ok)
        }
    }
}
