//! The length that CAKE's shaper counts for a packet: what the link layer makes of it.

fairlane_units::params! {
    /// Framing of a link layer.
    pub enum CakeFraming {
        /// Nothing more.
        #[default]
        None,
        /// Whole ATM cells of 53 bytes for 48 bytes each.
        Atm,
        /// PTM's 64b/65b coding: a byte more for each 64.
        Ptm,
    }
}

/// How a link layer carries packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) overhead: u64,
    pub(crate) uncounted: u64,
    pub(crate) mpu: u64,
    pub(crate) framing: CakeFraming,
}

impl Wire {
    /// The length of a packet on the wire (cake_calc_overhead).
    #[inline]
    pub(crate) fn framed(&self, len: u32) -> u64 {
        let len = (u64::from(len) + self.overhead).saturating_sub(self.uncounted).max(self.mpu);
        match self.framing {
            CakeFraming::None => len,
            CakeFraming::Atm => len.div_ceil(48) * 53,
            CakeFraming::Ptm => len + len.div_ceil(64),
        }
    }
}
