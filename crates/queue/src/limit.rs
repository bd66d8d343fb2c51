//! How much a queue may hold.

use crate::sched::DropFrom;
use fairlane_net::{Backlog, Room};
use fairlane_units::Len;

fairlane_units::params! {
    /// Which arrivals a limit admits.
    pub enum Admit {
        /// The packet is admitted if the backlog with it is at most the limit.
        #[default]
        Fits,
        /// The packet is admitted if the backlog with it stays under the limit: of 50 packets, 49 wait (ns-2's DropTail).
        Under,
        /// The packet is admitted while the backlog without it is under the limit: bytes may pass it by a packet (ns-2's RED).
        NotFull,
    }

    /// Which packet bears what a law decides when a packet arrives.
    #[derive(Copy, Eq)]
    pub part Front {
        /// Which packet a drop takes, of the law or of a full buffer: the arriving one, or that at the head, whose sender hears of it a queue earlier; the
        /// arriving one then is kept (Lakshman, Neidhardt and Ott 1996; ns-2's drop_front_).
        pub drop_from: DropFrom,
        /// Which packet carries a mark: the arriving one, or the next capable one that leaves, whose sender hears of it a queue earlier (Liu and Jain 2001).
        pub mark_from: DropFrom,
    }
}

/// A limit ready for the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Room);

impl Limit {
    /// No limit.
    pub const NONE: Self = Self(Room { pkts: u32::MAX, bytes: u64::MAX, arriving: false });

    /// The limit `len` under the rule `admit`.
    pub const fn new(len: Len, admit: Admit) -> Self {
        let under = matches!(admit, Admit::Under) as u64;
        let none = Self::NONE.0;
        Self(match len {
            Len::Packets(n) => {
                let n = n.saturating_sub(under);
                Room { pkts: if n < u32::MAX as u64 { n as u32 } else { u32::MAX }, ..none }
            }
            Len::Bytes(0) => Room { pkts: 0, ..none },
            Len::Bytes(n) => match admit {
                Admit::NotFull => Room { pkts: u32::MAX, bytes: n - 1, arriving: false },
                Admit::Fits | Admit::Under => Room { pkts: u32::MAX, bytes: n - under, arriving: true },
            },
        })
    }

    /// Returns the limit.
    pub const fn room(&self) -> Room {
        self.0
    }

    /// True if a packet of `len` bytes may join `held`.
    #[inline]
    pub const fn admits(&self, held: Backlog, len: u32) -> bool {
        self.0.admits(held, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(pkts: u32, bytes: u64) -> Backlog {
        Backlog { pkts, bytes }
    }

    /// ns-2's DropTail keeps limit - 1 waiting, its RED keeps `limit`.
    #[test]
    fn packets() {
        let fits = Limit::new(Len::Packets(50), Admit::Fits);
        assert!(fits.admits(held(49, 49_000), 1000) && !fits.admits(held(50, 50_000), 1000));
        assert_eq!(Limit::new(Len::Packets(50), Admit::NotFull), fits);
        let under = Limit::new(Len::Packets(50), Admit::Under);
        assert!(under.admits(held(48, 0), 1000) && !under.admits(held(49, 0), 1000));
        assert!(!Limit::new(Len::Packets(0), Admit::Fits).admits(held(0, 0), 1));
        assert!(!Limit::new(Len::Packets(1), Admit::Under).admits(held(0, 0), 1));
        assert!(Limit::new(Len::Packets(u64::MAX), Admit::Fits).admits(held(u32::MAX - 1, 0), 1));
    }

    #[test]
    fn bytes() {
        let ok = |admit, bytes, len| Limit::new(Len::Bytes(3000), admit).admits(held(1, bytes), len);
        assert!(ok(Admit::Fits, 1500, 1500) && !ok(Admit::Fits, 1501, 1500));
        assert!(ok(Admit::Under, 1499, 1500) && !ok(Admit::Under, 1500, 1500));
        assert!(ok(Admit::NotFull, 2999, 1500) && !ok(Admit::NotFull, 3000, 40));
        for admit in [Admit::Fits, Admit::Under, Admit::NotFull] {
            assert!(!Limit::new(Len::Bytes(0), admit).admits(held(0, 0), 1));
        }
    }
}
