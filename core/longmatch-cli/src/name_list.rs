//! Lists of names as the command line takes them.

/// A name in a list: with a comma in it, between quotation marks.
pub fn quoted(name: &str) -> String {
    if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() }
}

/// A list of names as a shell takes it.
pub fn list_of_names(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names = names.into_iter().map(|name| quoted(name.as_ref()));
    let list = names.collect::<Vec<_>>().join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/@%+".contains(c);
    if list.chars().all(is_plain) { list } else { format!("'{list}'") }
}
