//! Compiles the crate anew when a migration is added or changed, since they are part of it.

fn main() {
    println!("cargo:rerun-if-changed=../migrations");
}
