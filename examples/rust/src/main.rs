// SPDX-License-Identifier: Apache-2.0
//! Sorts on a few threads, each sort in a scope.
//!
//!     cargo build --release
//!     opscope run -- target/release/opscope-example

mod opscope;

fn sort(n: i64) -> i64 {
    let _scope = scope!("sort", "n" => n);
    let mut numbers: Vec<i64> = (0..n).map(|i| i * 7919 % 10007).collect();
    {
        let _inner = scope!("compare");
        numbers.sort_unstable();
    }
    numbers[0]
}

fn main() {
    let threads: Vec<_> = (1..4).map(|i| std::thread::spawn(move || sort(i * 10000))).collect();
    let smallest: i64 = threads.into_iter().map(|t| t.join().expect("a thread")).sum();
    println!("{smallest}");
}
