//! Short, readable names of functions.

/// Prefixes removed from the demangled name of a function.
const KNOWN: [&str; 2] = ["longmatch::engine::", "longmatch::"];

/// Returns the readable name of a symbol. Paths of types are cut to their last part.
pub fn readable(symbol: &str) -> String {
    shorten(&format!("{:#}", rustc_demangle::demangle(symbol)))
}

/// Keeps the function's own path, and cuts all other paths to their last part.
fn shorten(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0;
    for token in tokens(name) {
        match token {
            "<" | "[" => depth += 1,
            ">" | "]" => depth -= 1,
            _ => {}
        }
        // Generic arguments follow without a turbofish.
        let token = if token.ends_with("::") && depth > 0 { "" } else { token };
        if token == "<" && short.ends_with("::") {
            short.truncate(short.len() - 2);
        }
        short.push_str(token);
    }
    let known = KNOWN.iter().find_map(|known| short.strip_prefix(known));
    known.map(str::to_owned).unwrap_or(short)
}

/// Splits a name into identifiers, each with the `::` that follows it, and single other characters.
fn tokens(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let end = match &rest[word..] {
            after if after.starts_with("::") => word + 2,
            after => word.max(after.chars().next().map_or(0, char::len_utf8)),
        };
        let token;
        (token, rest) = rest.split_at(end);
        (!token.is_empty()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lose_their_paths() {
        let long = "longmatch::engine::spider::batch::avx2::fused::<longmatch::addr::Ipv4, u32, 2>";
        assert_eq!(shorten(long), "spider::batch::avx2::fused<Ipv4, u32, 2>");
        let nested =
            "longmatch::simd::run_avx2::<longmatch::engine::Each<longmatch::addr::Ipv6, a::B>>";
        assert_eq!(shorten(nested), "simd::run_avx2<Each<Ipv6, B>>");
        assert_eq!(
            shorten("<[u32; 64]>::map::<core::ops::Wrapped<a::f<a::B>::{closure#0}>>"),
            "<[u32; 64]>::map<Wrapped<f<B>{closure#0}>>"
        );
    }

    #[test]
    fn symbols_are_decoded() {
        let symbol = "_RINvNtNtNtNtCsckhrVOtMGVx_9longmatch6engine6spider5batch4avx25fused\
                      NtNtBa_4addr4Ipv4mKj2_ECsgv0UTqRcnls_13xtask_kernels";
        assert_eq!(readable(symbol), "spider::batch::avx2::fused<Ipv4, u32, 2>");
        assert_eq!(readable("memcpy"), "memcpy");
    }
}
