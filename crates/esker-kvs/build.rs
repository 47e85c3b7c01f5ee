//! Gives the shared library the name by which programs look for it when they start.
#![allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what it needs in this way"
)]

/// Goes up when a program that was linked against an older library could not use a newer one.
const ABI_VERSION: u32 = 1;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("CARGO_CFG_TARGET_VENDOR");
    let argument = match target.as_deref() {
        Ok("apple") => format!("-Wl,-install_name,@rpath/libkvs.{ABI_VERSION}.dylib"),
        _ => format!("-Wl,-soname,libkvs.so.{ABI_VERSION}"),
    };
    println!("cargo:rustc-cdylib-link-arg={argument}");
}
