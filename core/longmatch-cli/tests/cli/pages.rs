//! The pages of `longmatch`.

crate::pages! {
    "testdata/cli":
    annotate_csv, annotate_json, annotate_text, archives, compile, compile_export, default_table, install, load, lookup,
    lookup_columns, lookup_prefix, output_files, rov, set, set_covered, set_diff, set_dump, set_forms, usage,
    #[cfg(target_os = "linux")] full_disk,
    #[cfg(not(feature = "columnar"))] without_columnar,
}

#[test]
fn guide() {
    crate::transcripts::check("docs/pipes.md");
}
