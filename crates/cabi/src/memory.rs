//! State of a flow or a queue: memory owned by the library's code, copied and freed by its functions.

use crate::running::{Code, running};
use std::ffi::{CStr, c_char, c_void};

type Copy = Option<unsafe extern "C" fn(*mut c_void, *const c_void)>;
type Free = Option<unsafe extern "C" fn(*mut c_void)>;

/// Memory aligned to 16 bytes.
pub(crate) struct State {
    memory: Box<[u128]>,
    copy: Copy,
    free: Free,
    /// Code that owns the state.
    code: Code,
    /// True after init: `copy` and `free` may be called.
    live: bool,
}

impl State {
    /// Allocates this many zero bytes, for `init` to fill.
    pub(crate) fn zeroed(size: usize, copy: Copy, free: Free, code: Code) -> Self {
        Self { memory: vec![0; size.div_ceil(size_of::<u128>())].into_boxed_slice(), copy, free, code, live: false }
    }
    /// Allocates memory and fills it with `init`; returns the library's error if it fails, and then the memory holds nothing.
    ///
    /// `init` returns a null pointer, or a string that ends in 0, as the headers require.
    pub(crate) fn begun(
        size: usize,
        (copy, free): (Copy, Free),
        code: Code,
        init: impl FnOnce(*mut c_void) -> *const c_char,
    ) -> Result<Self, String> {
        let mut state = Self::zeroed(size, copy, free, code);
        let _running = running(code);
        let said = init(state.at());
        if !said.is_null() {
            // SAFETY: a string that ends in 0, as required above.
            return Err(unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned());
        }
        state.live = true;
        Ok(state)
    }
    pub(crate) fn at(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast()
    }
    pub(crate) fn view(&self) -> *const c_void {
        self.memory.as_ptr().cast()
    }
}

impl Clone for State {
    fn clone(&self) -> Self {
        let (Some(copy), true) = (self.copy, self.live) else {
            return Self { memory: self.memory.clone(), ..*self };
        };
        let mut new = Self { memory: vec![0; self.memory.len()].into_boxed_slice(), ..*self };
        let _running = running(self.code);
        // SAFETY: both states have the size the library asked for, and `from` went through init.
        unsafe { copy(new.at(), self.view()) };
        new
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let (true, Some(free)) = (self.live, self.free) {
            let _running = running(self.code);
            // SAFETY: the state is freed once.
            unsafe { free(self.at()) };
        }
    }
}
