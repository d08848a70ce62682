//! The pages of `longmatch-forward` and `longmatch-filter`.

crate::pages! {
    "testdata/router":
    usage,
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))] filter,
    #[cfg(target_os = "linux")] forward,
    #[cfg(not(feature = "dpdk"))] without_dpdk,
}
