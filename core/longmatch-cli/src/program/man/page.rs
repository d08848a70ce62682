//! One manual page, made of the definition of a command.
//!
//! `clap_mangen` writes the sections that need no layout. It would fill the lines of all other
//! texts, and with them examples and tables of values, so these sections are written here.

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// The manual's section: commands of users.
const SECTION: &str = "1";

/// Returns the name of the page's file: `longmatch-set-aggregate.1`.
pub fn file_name(command: &Command) -> String {
    format!("{}.{SECTION}", name(command))
}

/// Returns the page as roff text. It depends on the command alone, not on the date.
pub fn render(command: &Command) -> Vec<u8> {
    // The usage of the help: clap_mangen's own has all options, without their values.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let definition = command.clone().override_usage(usage).subcommand_help_heading("COMMANDS");
    let man = Man::new(definition)
        .title(name(command).to_uppercase())
        .section(SECTION)
        // An empty date would put the next word into its place.
        .date(" ")
        .source(format!("longmatch {}", env!("CARGO_PKG_VERSION")))
        .manual("longmatch manual");
    let help = AfterHelp::of(command);
    let mut page = Vec::new();
    let written = (|| {
        man.render_title(&mut page)?;
        // No hyphens in names of options, and no wider gaps between words.
        Roff::new().control("nh", []).control("ad", ["l"]).to_writer(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        description_and_options(command, &help).to_writer(&mut page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        remaining_sections(command, &help).to_writer(&mut page)
    })();
    written.expect("memory takes all that is written");
    page
}

/// Returns the name of a command's page: `longmatch-set-aggregate`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The text after a command's options, by the section of the page that it belongs to.
#[derive(Default)]
struct AfterHelp {
    notes: Vec<String>,
    examples: String,
    exit_codes: String,
}

impl AfterHelp {
    fn of(command: &Command) -> Self {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let mut help = Self::default();
        for paragraph in text.split("\n\n").filter(|it| !it.is_empty()) {
            if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
                examples.clone_into(&mut help.examples);
            } else if let Some(codes) = paragraph.strip_prefix("Exit codes: ") {
                codes.clone_into(&mut help.exit_codes);
            } else {
                help.notes.push(paragraph.to_owned());
            }
        }
        help
    }
}

fn description_and_options(command: &Command, help: &AfterHelp) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["DESCRIPTION"]);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    roff.text([roman(format!("{}.", about.trim_end_matches('.')))]);
    for note in &help.notes {
        roff.control("PP", []);
        paragraph(&mut roff, note);
    }
    roff.control("SH", ["OPTIONS"]);
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        roff.control("TP", []);
        roff.text(header(arg));
        for (i, text) in paragraphs(arg).iter().enumerate() {
            if i > 0 {
                // A paragraph with the indentation of the one before.
                roff.control("IP", []);
            }
            paragraph(&mut roff, text);
        }
    }
    roff
}

fn remaining_sections(command: &Command, help: &AfterHelp) -> Roff {
    let mut roff = Roff::new();
    if !help.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        paragraph(&mut roff, &help.examples);
    }
    if !help.exit_codes.is_empty() {
        roff.control("SH", ["EXIT STATUS"]);
        paragraph(&mut roff, &help.exit_codes);
    }
    if let Some((parent, _)) = name(command).rsplit_once('-') {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold(parent), roman(format!("({SECTION})"))]);
    }
    roff
}

/// Returns an argument as the help shows it: `-r, --routes <FILE>`.
fn header(arg: &Arg) -> Vec<Inline> {
    let text = arg.to_string();
    let (flag, value) = match text.split_once(' ') {
        Some((flag, value)) => (flag, value),
        None if arg.is_positional() => ("", &text[..]),
        None => (&text[..], ""),
    };
    let mut header = Vec::new();
    if let (Some(short), Some(_)) = (arg.get_short(), arg.get_long()) {
        header.extend([bold(format!("-{short}")), roman(", ")]);
    }
    if !flag.is_empty() {
        header.push(bold(flag));
    }
    if !flag.is_empty() && !value.is_empty() {
        header.push(roman(" "));
    }
    if !value.is_empty() {
        header.push(italic(value));
    }
    header
}

/// Returns the paragraphs of an argument's help, with its default and its values, as the help has
/// them.
fn paragraphs(arg: &Arg) -> Vec<String> {
    let text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut paragraphs: Vec<_> = text.split("\n\n").map(str::to_owned).collect();
    if arg.get_action().takes_values() {
        let defaults: Vec<_> =
            arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && !arg.is_hide_default_value_set() {
            paragraphs.push(format!("[default: {}]", defaults.join(",")));
        }
        let values = arg.get_possible_values();
        if !values.is_empty() && !arg.is_hide_possible_values_set() {
            let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
            paragraphs.push(format!("[possible values: {}]", names.join(", ")));
        }
    }
    paragraphs
}

/// Appends a paragraph. Examples and tables keep their lines: they begin with two spaces, or have
/// two between their columns.
fn paragraph(roff: &mut Roff, text: &str) {
    let keep_lines = text.contains("  ");
    if keep_lines {
        roff.control("nf", []);
    }
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    if keep_lines {
        roff.control("fi", []);
    }
}
