//! Memory prefetching: a hint to the processor, which changes no result.

/// Prefetches the cache lines of the first `bytes` bytes of `x`.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(x: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..bytes.min(size_of::<T>()).div_ceil(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let p = std::ptr::from_ref(x).cast::<i8>().wrapping_add(64 * line);
        // SAFETY: a prefetch reads nothing that a program can see and does not fault on any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, bytes);
}
