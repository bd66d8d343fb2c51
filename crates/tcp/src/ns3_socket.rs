//! Recovery state of the sockets of ns-3.37.

/// Parts of the state of ns-3's socket beyond [`Phase`](crate::state::Phase).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ns3Socket {
    /// CA_DISORDER: data was SACKed, no loss is known.
    pub(crate) disorder: bool,
    /// CA_CWR: an ECN echo is being answered.
    pub(crate) cwr: bool,
    /// True until the last loss event is over (m_recoverActive).
    pub(crate) recover_active: bool,
    /// True if the current acknowledgment carries an ECN echo.
    pub(crate) echo: bool,
    /// True if it covers a segment that was retransmitted and never SACKed (m_isRetransDataAcked).
    pub(crate) repaired: bool,
}

impl Ns3Socket {
    pub(crate) const NEW: Self = Self { disorder: false, cwr: false, recover_active: false, echo: false, repaired: false };
}
