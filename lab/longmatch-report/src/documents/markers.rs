//! Replacement of the generated blocks of a Markdown file.

/// Start of the line before a block; the block's name and [`CLOSE`] follow.
const OPEN: &str = "<!-- generated: ";
/// End of the line before a block.
const CLOSE: &str = " -->";
/// The line after a block.
const END: &str = "<!-- end -->";

/// Replaces the content of every block; returns the new text and the names of the blocks.
///
/// # Errors
/// If a block has no end or begins within another, an end has no block, or `content` refuses a name; the message has
/// the line number.
pub(super) fn replace(
    text: &str,
    mut content: impl FnMut(&str) -> Result<String, String>,
) -> Result<(String, Vec<String>), String> {
    let (mut out, mut names) = (String::with_capacity(text.len()), Vec::new());
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let at = |problem: String| format!("line {number}: {problem}");
        if line == END {
            return Err(at(format!("`{END}` without a generated block")));
        }
        out += &format!("{line}\n");
        let Some(rest) = line.strip_prefix(OPEN) else { continue };
        let Some(name) = rest.strip_suffix(CLOSE) else {
            return Err(at(format!("the marker of a generated block has no `{CLOSE}`")));
        };
        out += &format!("\n{}\n\n{END}\n", content(name).map_err(at)?.trim());
        names.push(name.to_owned());
        match lines.find(|(_, line)| *line == END || line.starts_with(OPEN)) {
            Some((_, END)) => {}
            Some((number, _)) => {
                return Err(format!("line {number}: a generated block begins within another"));
            }
            None => return Err(at(format!("the generated block has no `{END}`"))),
        }
    }
    Ok((out, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upper(name: &str) -> Result<String, String> {
        match name {
            "a" | "b c" => Ok(name.to_uppercase()),
            _ => Err(format!("unknown block `{name}`")),
        }
    }

    #[test]
    fn blocks_are_replaced_and_the_rest_is_kept() {
        let text = "x\n<!-- generated: a -->\nold\n\n<!-- end -->\ny\n<!-- generated: b c -->\n<!-- end -->\n";
        let (new, names) = replace(text, upper).unwrap();
        assert_eq!(
            new,
            "x\n<!-- generated: a -->\n\nA\n\n<!-- end -->\ny\n<!-- generated: b c -->\n\nB C\n\n<!-- end -->\n"
        );
        assert_eq!(names, ["a", "b c"]);
        assert_eq!(replace(&new, upper).unwrap().0, new, "a second time changes nothing");
    }

    #[test]
    fn malformed_blocks_are_refused() {
        for (text, problem) in [
            ("\n<!-- generated: a -->\nold\n", "line 2: the generated block has no `<!-- end -->`"),
            ("<!-- generated: z -->\n<!-- end -->\n", "line 1: unknown block `z`"),
            (
                "<!-- generated: a -->\n<!-- generated: b c -->\n<!-- end -->\n",
                "line 2: a generated block begins within another",
            ),
            ("x\n<!-- end -->\n", "line 2: `<!-- end -->` without a generated block"),
            (
                "<!-- generated: a\n<!-- end -->\n",
                "line 1: the marker of a generated block has no ` -->`",
            ),
        ] {
            assert_eq!(replace(text, upper).unwrap_err(), problem);
        }
    }
}
