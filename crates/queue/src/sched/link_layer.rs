//! Link layers that shapers and meters count: rate tables of Linux (`psched_l2t_ns` of sch_generic.h).

use super::cake::wire::{CakeFraming, Wire};
use fairlane_units::Bytes;

fairlane_units::params! {
    /// Link layer of a rate.
    pub enum LinkLayerKind {
        /// Frames as they are.
        #[default]
        Ethernet,
        /// Whole ATM cells of 53 bytes for 48 bytes each.
        Atm,
    }

    /// Bytes and cells that a rate counts for a packet.
    pub part LinkLayer {
        /// Bytes that the link layer adds to each packet, for the rate (tc's overhead).
        #[schemars(extend("x-min" = "0B", "x-max" = "65535B"))]
        pub overhead: Bytes = Bytes(0),
        /// Least length of a packet with its overhead, for the rate (tc's mpu).
        #[schemars(extend("x-min" = "0B", "x-max" = "65535B"))]
        pub mpu: Bytes = Bytes(0),
        /// Link layer whose cells the rate counts (tc's linklayer).
        pub linklayer: LinkLayerKind = LinkLayerKind::Ethernet,
    }
}

impl LinkLayer {
    /// Returns how it carries packets.
    pub(crate) fn wire(&self) -> Wire {
        let framing = match self.linklayer {
            LinkLayerKind::Ethernet => CakeFraming::None,
            LinkLayerKind::Atm => CakeFraming::Atm,
        };
        Wire { overhead: self.overhead.get(), uncounted: 0, mpu: self.mpu.get(), framing }
    }
}
