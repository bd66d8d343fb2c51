//! Which foreign code a thread runs, so that a process that dies in it says whose code it was.
//!
//! A crash (SIGSEGV and its like, `abort`) and a call of `exit` end the process wherever they happen. Each thread that runs foreign code has
//! a place in a table, which the handlers read without taking a lock or memory: that is all that a handler of signals may do.

use std::ffi::{CStr, CString};

/// Foreign code by the words that name it.
#[derive(Clone, Copy, Debug)]
pub struct Code(&'static CStr);

impl Code {
    /// Code of these words, such as ``queue `lifo` of ./lifo.so``; they live as long as the process.
    #[must_use]
    pub fn named(words: &str) -> Self {
        let printable: String = words.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        Self(Box::leak(CString::new(printable).unwrap_or_default().into_boxed_c_str()))
    }
}

#[cfg(unix)]
pub use watched::{Running, running, watch};

#[cfg(not(unix))]
pub use unwatched::{Running, running, watch};

#[cfg(unix)]
mod watched {
    use super::Code;
    use std::cell::UnsafeCell;
    use std::ffi::{c_char, c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

    /// Signals that end a process, with their names for people.
    const SIGNALS: [(c_int, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV (a wrong address)"),
        (libc::SIGBUS, "SIGBUS (a wrong address)"),
        (libc::SIGILL, "SIGILL (no instruction)"),
        (libc::SIGFPE, "SIGFPE (arithmetic)"),
        (libc::SIGABRT, "SIGABRT (abort)"),
    ];
    /// Threads that have a place; further ones run unnamed.
    const THREADS: usize = 512;
    /// Bytes of the stack on which a handler runs: that of the thread may be what ended.
    const STACK: usize = 1 << 16;
    /// Exit code of a run whose code of the user's failed.
    const FAILED: c_int = 1;

    /// Foreign code that a thread runs, on a cache line of its own.
    #[repr(align(128))]
    struct ThreadEntry {
        /// `pthread_self` of the thread, 0 if nobody has the entry.
        thread: AtomicUsize,
        /// Words that name what it runs, null if that is no foreign code.
        runs: AtomicPtr<c_char>,
    }

    static TABLE: [ThreadEntry; THREADS] =
        [const { ThreadEntry { thread: AtomicUsize::new(0), runs: AtomicPtr::new(ptr::null_mut()) } }; THREADS];

    /// Handlers that were installed for these signals before ours.
    struct Before(UnsafeCell<[MaybeUninit<libc::sigaction>; SIGNALS.len()]>);
    // SAFETY: written once, before a handler that reads it is there.
    unsafe impl Sync for Before {}
    static BEFORE: Before = Before(UnsafeCell::new([const { MaybeUninit::uninit() }; SIGNALS.len()]));

    fn me() -> usize {
        // SAFETY: it may be called anywhere, in a handler, too.
        (unsafe { libc::pthread_self() }) as usize
    }

    /// The place of this thread, and its stack for handlers; both are given back when the thread ends.
    struct Mine {
        entry: Option<&'static ThreadEntry>,
        stack: *mut c_void,
    }

    impl Mine {
        fn take() -> Self {
            let free = |p: &&ThreadEntry| p.thread.compare_exchange(0, me(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            Self { entry: TABLE.iter().find(free), stack: handlers_stack() }
        }
    }

    impl Drop for Mine {
        fn drop(&mut self) {
            // `exit` ends what belongs to the thread first, so this is where it is seen; `pthread_exit` comes here, too.
            on_exit();
            if let Some(p) = self.entry {
                p.runs.store(ptr::null_mut(), Ordering::Relaxed);
                p.thread.store(0, Ordering::Release);
            }
            if !self.stack.is_null() {
                let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: STACK };
                // SAFETY: no handler runs here, and nobody else has this memory.
                unsafe {
                    libc::sigaltstack(&raw const none, ptr::null_mut());
                    libc::munmap(self.stack, STACK);
                }
            }
        }
    }

    /// A stack for handlers on this thread, null if there is one already or none can be had.
    fn handlers_stack() -> *mut c_void {
        // SAFETY: fresh memory that is given to this thread alone.
        unsafe {
            let mut now = MaybeUninit::<libc::stack_t>::zeroed().assume_init();
            if libc::sigaltstack(ptr::null(), &raw mut now) != 0 || now.ss_flags & libc::SS_DISABLE == 0 {
                return ptr::null_mut();
            }
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let memory = libc::mmap(ptr::null_mut(), STACK, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if memory == libc::MAP_FAILED {
                return ptr::null_mut();
            }
            let own = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: STACK };
            if libc::sigaltstack(&raw const own, ptr::null_mut()) == 0 {
                return memory;
            }
            libc::munmap(memory, STACK);
            ptr::null_mut()
        }
    }

    thread_local! {
        static MINE: Mine = Mine::take();
    }

    /// Foreign code runs as long as this is held.
    #[derive(Debug)]
    pub struct Running {
        runs: Option<(&'static AtomicPtr<c_char>, *mut c_char)>,
    }

    /// Says that this thread runs foreign code from here on.
    #[inline]
    #[must_use]
    pub fn running(code: Code) -> Running {
        let entry = MINE.try_with(|m| m.entry).ok().flatten();
        Running { runs: entry.map(|p| (&p.runs, p.runs.swap(code.0.as_ptr().cast_mut(), Ordering::Relaxed))) }
    }

    impl Drop for Running {
        #[inline]
        fn drop(&mut self) {
            if let Some((runs, before)) = self.runs {
                runs.store(before, Ordering::Relaxed);
            }
        }
    }

    /// Returns the words for the foreign code that this thread runs; null if it runs none. Safe in a signal handler.
    fn mine() -> *const c_char {
        let own = me();
        TABLE.iter().find(|p| p.thread.load(Ordering::Relaxed) == own).map_or(ptr::null(), |p| p.runs.load(Ordering::Relaxed))
    }

    fn write(bytes: *const u8, len: usize) {
        // SAFETY: so many bytes are there. An error cannot be told to anybody.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, bytes.cast(), len) };
    }

    fn say(parts: &[&str], words: *const c_char, rest: &[&str]) {
        parts.iter().for_each(|p| write(p.as_ptr(), p.len()));
        // SAFETY: the words of a `Code` end in 0.
        write(words.cast(), unsafe { libc::strlen(words) });
        rest.iter().for_each(|p| write(p.as_ptr(), p.len()));
    }

    /// Names the code, and leaves the signal to whoever had it before.
    extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        let found = SIGNALS.iter().position(|s| s.0 == signal);
        let words = mine();
        if let (Some(i), false) = (found, words.is_null()) {
            say(&["error: ", SIGNALS[i].1, " in the code of "], words, &[": it ends this process; what was not saved is lost\n"]);
        }
        // SAFETY: the action was written before this handler was set; both calls may be made in a handler.
        unsafe {
            if let Some(i) = found {
                libc::sigaction(signal, (*BEFORE.0.get())[i].as_ptr(), ptr::null_mut());
            }
            // A fault comes again when this returns; what somebody sent has to be sent again.
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        }
    }

    /// `exit` was called, or the thread ends: by foreign code that is an error, whatever it gave as its code.
    extern "C" fn on_exit() {
        let words = mine();
        if words.is_null() {
            return;
        }
        say(&["error: "], words, &[" calls exit: it ends this process; what was not saved is lost\n"]);
        // SAFETY: it may be called anywhere.
        unsafe { libc::_exit(FAILED) };
    }

    /// Names from here on the foreign code that a process dies in.
    pub fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (i, (signal, _)) in SIGNALS.iter().enumerate() {
                // SAFETY: this runs once, and the handler does only what handlers may.
                unsafe {
                    let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                    action.sa_sigaction = on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
                    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    libc::sigemptyset(&raw mut action.sa_mask);
                    let before = (*BEFORE.0.get())[i].as_mut_ptr();
                    if libc::sigaction(*signal, ptr::null(), before) == 0 {
                        libc::sigaction(*signal, &raw const action, ptr::null_mut());
                    }
                }
            }
            // SAFETY: the function lives as long as the process.
            unsafe { libc::atexit(on_exit) };
        });
    }
}

#[cfg(not(unix))]
mod unwatched {
    use super::Code;

    /// Foreign code runs as long as this is held.
    #[derive(Debug)]
    pub struct Running(());

    /// Says that this thread runs foreign code from here on; here nobody hears it.
    #[must_use]
    pub fn running(_: Code) -> Running {
        Running(())
    }

    /// Does nothing on this system.
    pub fn watch() {}
}
