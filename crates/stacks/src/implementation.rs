//! Properties of each implementation, and how it is built from its parameters.

use crate::spec::{NoqCc, NoqParams, QuicParams, QuinnCc, QuinnParams, Str0mParams};
use crate::stack::{Seat, Stack};
use fairlane_net::Problem;
use fairlane_units::Len;

/// Parameters of a stack, from which both ends of a connection are built.
pub trait Implementation {
    /// Version of the implementation.
    const VERSION: &'static str;
    /// True if the stack is built into this program.
    const BUILT: bool;
    /// True if the stack has a source of its own, which runs as long as the flow.
    const MEDIA: bool = false;
    /// True if the stack writes a log of its own.
    const LOGS: bool = true;
    /// Header bytes of a datagram on the wire.
    fn header(&self) -> u64;
    /// Checks what the range of a parameter cannot say.
    ///
    /// # Errors
    /// The parameter, and what is wrong.
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }
    /// Builds the stack of one end; `None` if it is not built into this program.
    ///
    /// # Errors
    /// Why the stack refuses its parameters.
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String>;
}

/// Packets to which "10p" of an initial window refers: the least maximum datagram size (RFC 9002 section 7.2).
const PACKET: u64 = 1200;

impl QuicParams {
    /// Bytes of the initial window, if it is given.
    pub(crate) fn window_bytes(&self) -> Option<u64> {
        Some(match self.initial_window? {
            Len::Packets(n) => n * PACKET,
            Len::Bytes(n) => n,
        })
    }

    fn check(&self) -> Result<(), Problem> {
        if self.largest_mtu < self.mtu {
            return Err(Problem::new("largest_mtu", "it is below mtu"));
        }
        let least = 2 * self.mtu.get();
        if self.window_bytes().is_some_and(|w| w < least) {
            return Err(Problem::new("initial_window", format!("it is below two datagrams of mtu, {least}B (RFC 9002 section 7.2)")));
        }
        Ok(())
    }
}

/// Builds a stack if its feature is there.
macro_rules! built {
    ($feature:literal, $module:ident, $params:expr, $seat:expr) => {{
        #[cfg(feature = $feature)]
        let stack = crate::$module::build($params, $seat).map(Some);
        #[cfg(not(feature = $feature))]
        let stack = {
            let _ = $seat;
            Ok(None)
        };
        stack
    }};
}

/// Refuses an algorithm whose random numbers this program cannot seed.
fn seedable(draws: bool) -> Result<(), Problem> {
    if draws && !cfg!(getrandom_backend = "custom") {
        let why = "it draws from the system's random numbers, so two runs would differ: build with RUSTFLAGS='--cfg getrandom_backend=\"custom\"'";
        return Err(Problem::new("cc", why));
    }
    Ok(())
}

impl Implementation for QuinnParams {
    const VERSION: &'static str = "0.11.19";
    const BUILT: bool = cfg!(feature = "quinn");
    fn header(&self) -> u64 {
        self.quic.header.get()
    }
    fn check(&self) -> Result<(), Problem> {
        seedable(self.cc == QuinnCc::Bbr)?;
        self.quic.check()
    }
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String> {
        built!("quinn", quinn, self, seat)
    }
}

impl Implementation for NoqParams {
    const VERSION: &'static str = "1.4.0";
    const BUILT: bool = cfg!(feature = "noq");
    fn header(&self) -> u64 {
        self.quic.header.get()
    }
    fn check(&self) -> Result<(), Problem> {
        seedable(self.cc == NoqCc::Bbr3)?;
        self.quic.check()
    }
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String> {
        built!("noq", noq, self, seat)
    }
}

impl Implementation for Str0mParams {
    const VERSION: &'static str = "0.24.1";
    const BUILT: bool = cfg!(feature = "str0m");
    const MEDIA: bool = true;
    const LOGS: bool = false;
    fn header(&self) -> u64 {
        self.header.get()
    }
    fn check(&self) -> Result<(), Problem> {
        if self.most < self.least {
            return Err(Problem::new("most", "it is below least"));
        }
        if self.start < self.least || self.start > self.most {
            return Err(Problem::new("start", "it is not between least and most"));
        }
        Ok(())
    }
    fn build(&self, seat: &Seat) -> Result<Option<Box<dyn Stack>>, String> {
        built!("str0m", str0m, self, seat)
    }
}
