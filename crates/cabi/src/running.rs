//! Tracks the foreign code that each thread runs, so that a crash report names it.
//!
//! A crash (SIGSEGV and the like, `abort`) or a call of `exit` ends the process anywhere. Each thread that runs foreign code has
//! an entry in a table, which signal handlers read without taking a lock or allocating, as they must.

use std::ffi::{CStr, CString};

/// Foreign code, by its description.
#[derive(Clone, Copy, Debug)]
pub struct Code(&'static CStr);

impl Code {
    /// Code with this description, such as ``queue `lifo` of ./lifo.so``, which lives as long as the process.
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

    /// Signals that end a process, with their descriptions.
    const SIGNALS: [(c_int, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV (invalid address)"),
        (libc::SIGBUS, "SIGBUS (invalid address)"),
        (libc::SIGILL, "SIGILL (invalid instruction)"),
        (libc::SIGFPE, "SIGFPE (arithmetic)"),
        (libc::SIGABRT, "SIGABRT (abort)"),
    ];
    /// Threads with an entry; further ones run unnamed.
    const THREADS: usize = 512;
    /// Stack size of a handler: the stack of the thread may have overflowed.
    const STACK: usize = 1 << 16;
    /// Exit code of a run with a failed plug-in.
    const FAILED: c_int = 1;

    /// Foreign code that a thread runs, on a cache line of its own.
    #[repr(align(128))]
    struct ThreadEntry {
        /// `pthread_self` of the thread, 0 for a free entry.
        thread: AtomicUsize,
        /// Description of the running foreign code, null if there is none.
        runs: AtomicPtr<c_char>,
    }

    static TABLE: [ThreadEntry; THREADS] =
        [const { ThreadEntry { thread: AtomicUsize::new(0), runs: AtomicPtr::new(ptr::null_mut()) } }; THREADS];

    /// Handlers installed for these signals before ours.
    struct PreviousHandlers(UnsafeCell<[MaybeUninit<libc::sigaction>; SIGNALS.len()]>);
    // SAFETY: written once, before a handler that reads it exists.
    unsafe impl Sync for PreviousHandlers {}
    static PREVIOUS: PreviousHandlers = PreviousHandlers(UnsafeCell::new([const { MaybeUninit::uninit() }; SIGNALS.len()]));

    fn me() -> usize {
        // SAFETY: may be called anywhere, also in a handler.
        (unsafe { libc::pthread_self() }) as usize
    }

    /// Entry of this thread, and its stack for handlers; both are released when the thread ends.
    struct ThisThread {
        entry: Option<&'static ThreadEntry>,
        stack: *mut c_void,
    }

    impl ThisThread {
        fn take() -> Self {
            let free = |p: &&ThreadEntry| p.thread.compare_exchange(0, me(), Ordering::AcqRel, Ordering::Relaxed).is_ok();
            Self { entry: TABLE.iter().find(free), stack: handlers_stack() }
        }
    }

    impl Drop for ThisThread {
        fn drop(&mut self) {
            // `exit` destroys thread-locals first, so it is detected here; `pthread_exit` comes here, too.
            on_exit();
            if let Some(p) = self.entry {
                p.runs.store(ptr::null_mut(), Ordering::Relaxed);
                p.thread.store(0, Ordering::Release);
            }
            if !self.stack.is_null() {
                let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: STACK };
                // SAFETY: no handler runs here, and this memory has no other user.
                unsafe {
                    libc::sigaltstack(&raw const none, ptr::null_mut());
                    libc::munmap(self.stack, STACK);
                }
            }
        }
    }

    /// Allocates a stack for handlers on this thread; null if there is one already or allocation fails.
    fn handlers_stack() -> *mut c_void {
        // SAFETY: fresh memory for this thread alone.
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
        static MINE: ThisThread = ThisThread::take();
    }

    /// Guard: foreign code runs as long as it is held.
    #[derive(Debug)]
    pub struct Running {
        runs: Option<(&'static AtomicPtr<c_char>, *mut c_char)>,
    }

    /// Marks this thread as running foreign code.
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

    /// Description of the foreign code that this thread runs; null if it runs none. Safe in a signal handler.
    fn mine() -> *const c_char {
        let own = me();
        TABLE.iter().find(|p| p.thread.load(Ordering::Relaxed) == own).map_or(ptr::null(), |p| p.runs.load(Ordering::Relaxed))
    }

    fn write(bytes: *const u8, len: usize) {
        // SAFETY: the buffer has that many bytes. A write error cannot be reported.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, bytes.cast(), len) };
    }

    fn say(parts: &[&str], words: *const c_char, rest: &[&str]) {
        parts.iter().for_each(|p| write(p.as_ptr(), p.len()));
        // SAFETY: the description of a `Code` ends in 0.
        write(words.cast(), unsafe { libc::strlen(words) });
        rest.iter().for_each(|p| write(p.as_ptr(), p.len()));
    }

    /// Prints the name of the code, and passes the signal to the previous handler.
    extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
        let found = SIGNALS.iter().position(|s| s.0 == signal);
        let words = mine();
        if let (Some(i), false) = (found, words.is_null()) {
            say(&["error: ", SIGNALS[i].1, " in the code of "], words, &[": the process ends; unsaved results are lost\n"]);
        }
        // SAFETY: the action was written before this handler was installed; both calls are allowed in a handler.
        unsafe {
            if let Some(i) = found {
                libc::sigaction(signal, (*PREVIOUS.0.get())[i].as_ptr(), ptr::null_mut());
            }
            // A fault recurs after this returns; a signal sent by a process must be sent again.
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        }
    }

    /// Handles `exit` or the end of the thread: from foreign code it is an error, whatever its exit code.
    extern "C" fn on_exit() {
        let words = mine();
        if words.is_null() {
            return;
        }
        say(&["error: "], words, &[" calls exit: the process ends; unsaved results are lost\n"]);
        // SAFETY: may be called anywhere.
        unsafe { libc::_exit(FAILED) };
    }

    /// Installs handlers that name the foreign code in which a process crashes.
    pub fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (i, (signal, _)) in SIGNALS.iter().enumerate() {
                // SAFETY: this runs once, and the handler makes only allowed calls.
                unsafe {
                    let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                    action.sa_sigaction = on_signal as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
                    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    libc::sigemptyset(&raw mut action.sa_mask);
                    let before = (*PREVIOUS.0.get())[i].as_mut_ptr();
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

    /// Guard: foreign code runs as long as it is held.
    #[derive(Debug)]
    pub struct Running(());

    /// Does nothing on this system.
    #[must_use]
    pub fn running(_: Code) -> Running {
        Running(())
    }

    /// Does nothing on this system.
    pub fn watch() {}
}
