//! Compiles the C shim of DPDK if the feature `dpdk` is on; otherwise does nothing.

fn main() {
    // Without this line, every change of any file in the directory would run the program again.
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "dpdk")]
    if let Err(message) = dpdk::build() {
        println!("cargo::error={message}");
    }
}

#[cfg(feature = "dpdk")]
mod dpdk {
    use std::env;
    use std::process::Command;

    /// The libraries whose functions the shim calls. Drivers are plugins, which DPDK loads itself;
    /// `pkg-config --libs` would link all sixty libraries.
    const LIBRARIES: [&str; 5] = ["rte_eal", "rte_ethdev", "rte_mbuf", "rte_mempool", "rte_ring"];

    pub(crate) fn build() -> Result<(), String> {
        for file in ["dpdk/shim.c", "dpdk/shim.h"] {
            println!("cargo::rerun-if-changed={file}");
        }
        for variable in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let flags = pkg_config(&["--cflags"])?;
        let mut compiler = cc::Build::new();
        compiler.file("dpdk/shim.c").std("gnu11").opt_level(3).warnings(true);
        flags.split_whitespace().for_each(|flag| {
            // DPDK's own headers are not to be warned about.
            match flag.strip_prefix("-I") {
                Some(directory) => compiler.flag("-isystem").flag(directory),
                None => compiler.flag(flag),
            };
        });
        compiler.try_compile("longmatch_dpdk").map_err(|error| {
            let message = error.to_string().replace('\n', " ");
            format!("the DPDK shim was not compiled (a C compiler is needed): {message}")
        })?;
        for directory in pkg_config(&["--libs-only-L"])?.split_whitespace() {
            println!("cargo::rustc-link-search=native={}", directory.trim_start_matches("-L"));
        }
        for library in LIBRARIES {
            println!("cargo::rustc-link-lib=dylib={library}");
        }
        Ok(())
    }

    /// The output of `pkg-config` for libdpdk; 22.11 is the oldest supported version.
    fn pkg_config(arguments: &[&str]) -> Result<String, String> {
        let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
        let install = "install DPDK 22.11 or later and pkg-config (on Debian and Ubuntu: apt-get \
                       install dpdk-dev pkg-config), or build without the feature `dpdk`";
        let output = Command::new(&program).args(arguments).arg("libdpdk >= 22.11").output();
        let output = output.map_err(|error| format!("cannot run {program}: {error}; {install}"))?;
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
            return Err(format!("libdpdk is not found by {program}: {reason}; {install}"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
