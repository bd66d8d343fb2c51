//! Limits of a sender.

/// Reason why a sender does not send more at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Limit {
    /// The flow has not begun, or has ended.
    #[default]
    Nothing,
    /// The handshake is not complete.
    Handshake,
    /// The application has written no more data.
    Application,
    /// The receiver's window.
    Receiver,
    /// The send buffer.
    SendBuffer,
    /// The congestion window, in slow start.
    SlowStart,
    /// The congestion window, in congestion avoidance.
    Avoidance,
    /// The congestion window, in recovery from a loss or a mark.
    Recovery,
    /// Pacing: the windows would allow more.
    Pacing,
    /// A flow controller.
    Control,
    /// The retransmission timer. Known only after it has expired.
    Timeout,
}

impl Limit {
    /// All limits, in order.
    pub const ALL: [Self; 11] = [
        Self::Nothing,
        Self::Handshake,
        Self::Application,
        Self::Receiver,
        Self::SendBuffer,
        Self::SlowStart,
        Self::Avoidance,
        Self::Recovery,
        Self::Pacing,
        Self::Control,
        Self::Timeout,
    ];
    /// Number of limits.
    pub const COUNT: usize = Self::ALL.len();
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Handshake => "handshake",
            Self::Application => "application",
            Self::Receiver => "receive_window",
            Self::SendBuffer => "send_buffer",
            Self::SlowStart => "slow_start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
            Self::Pacing => "pacing",
            Self::Control => "control",
            Self::Timeout => "timeout",
        }
    }
    /// True if the sender has data that it would send otherwise.
    pub const fn wants(self) -> bool {
        !matches!(self, Self::Nothing | Self::Handshake | Self::Application)
    }
}
