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
    // First line of the current block.
    let mut open: Option<usize> = None;
    for (i, line) in text.lines().enumerate() {
        let at = |problem: &str| format!("line {}: {problem}", i + 1);
        let name = line.strip_prefix(OPEN).map(|rest| rest.strip_suffix(CLOSE));
        match (open, name) {
            (Some(_), Some(_)) => return Err(at("a generated block begins within another")),
            (None, Some(None)) => return Err(at("the marker of a generated block has no ` -->`")),
            (None, Some(Some(name))) => {
                let content = content(name).map_err(|problem| at(&problem))?;
                out += &format!("{line}\n\n{}\n\n{END}\n", content.trim());
                names.push(name.to_owned());
                open = Some(i + 1);
            }
            (Some(_), None) if line == END => open = None,
            (None, None) if line == END => {
                return Err(at("`<!-- end -->` without a generated block"));
            }
            (Some(_), None) => {}
            (None, None) => {
                out += line;
                out.push('\n');
            }
        }
    }
    match open {
        Some(line) => Err(format!("line {line}: the generated block has no `{END}`")),
        None => Ok((out, names)),
    }
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
