// SPDX-License-Identifier: Apache-2.0
// Compiles the one C file that has the functions of opscope/stub.h. Nothing is linked, so the
// program runs where there is no libopscope.
fn main() {
    let include = std::env::var("OPSCOPE_INCLUDE").unwrap_or("../../include".into());
    println!("cargo:rerun-if-env-changed=OPSCOPE_INCLUDE");
    println!("cargo:rerun-if-changed=src/opscope.c");
    cc::Build::new().file("src/opscope.c").include(include).compile("opscope_stub");
}
