//! The pages of `longmatch-forward`.

crate::pages! {
    "testdata/router":
    usage,
    #[cfg(target_os = "linux")] forward,
    #[cfg(not(feature = "dpdk"))] without_dpdk,
}
