//! Counter of the elements that data structures touch, so that tests can bound the cost per packet without a clock.
//!
//! Builds with debug assertions count, for each thread; others compile to nothing. A loop whose length depends on how much waits or on how
//! many flows there are counts its passes; work in a library's structure counts as its documented bound.

#[cfg(debug_assertions)]
std::thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts `n` elements that were compared, moved or looked at.
#[inline(always)]
pub fn step(n: usize) {
    #[cfg(debug_assertions)]
    TAKEN.with(|taken| taken.set(taken.get() + n as u64));
    #[cfg(not(debug_assertions))]
    let _ = n;
}

/// Counts one operation of a balanced tree, a heap or a binary search with `len` elements.
#[inline(always)]
pub fn log_step(len: usize) {
    #[cfg(debug_assertions)]
    step(1 + len.max(1).ilog2() as usize);
    #[cfg(not(debug_assertions))]
    let _ = len;
}

/// Steps of this thread so far; 0 in builds that do not count.
pub fn steps() -> u64 {
    #[cfg(debug_assertions)]
    return TAKEN.with(std::cell::Cell::get);
    #[cfg(not(debug_assertions))]
    0
}
