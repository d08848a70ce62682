//! The pages of `longmatch-lab`.

crate::pages! {
    "testdata/lab":
    auto, install, limits, limits_rows, load, measure, replay, report, report_counted, stat, traffic, usage,
    #[cfg(target_os = "linux")] full_disk,
}
