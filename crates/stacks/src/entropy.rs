//! Random numbers of the system, which some stacks draw from and no interface seeds.
//!
//! In a program that is built with `--cfg getrandom_backend="custom"` they come from the stream of the stack that asks. The generator of a thread, which is
//! seeded from them, is seeded again before an object that draws from it is made, so that what it draws does not depend on earlier runs.

/// Makes an object of a stack that takes random numbers from the generator of the thread.
pub(crate) fn fresh<T>(make: impl FnOnce() -> T) -> T {
    #[cfg(getrandom_backend = "custom")]
    if let Err(e) = rand::rng().reseed() {
        // Never, because the source below always has numbers.
        debug_assert!(false, "{e}");
    }
    make()
}

#[cfg(getrandom_backend = "custom")]
mod source {
    use crate::tls::fill_random;

    /// The source of `getrandom`. Outside of a stack nothing in this program asks for numbers that must be secret: it gets a fixed sequence.
    ///
    /// # Safety
    /// `dest` is valid for writes of `len` bytes, as `getrandom` promises.
    #[allow(unsafe_code, reason = "the interface of getrandom")]
    #[unsafe(no_mangle)]
    unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
        // SAFETY: as promised above; the bytes are written before they are read.
        let bytes = unsafe {
            std::ptr::write_bytes(dest, 0, len);
            std::slice::from_raw_parts_mut(dest, len)
        };
        fill_random(bytes);
        Ok(())
    }
}
