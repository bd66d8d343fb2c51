//! What keeps a sender from sending more at one instant.

/// What limits a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Limit {
    /// It has not begun, or is over: nothing is to be limited.
    #[default]
    Nothing,
    /// The connection is being opened.
    Handshake,
    /// The application has written no more.
    Application,
    /// The receiver's window.
    Receiver,
    /// The sender's own bound of what may be out (a send buffer).
    SendBuffer,
    /// The congestion window, in slow start.
    SlowStart,
    /// The congestion window, in congestion avoidance.
    Avoidance,
    /// The congestion window while a loss or a mark is dealt with.
    Recovery,
    /// Pacing: the windows would let more out.
    Pacing,
    /// A control at the sender's node.
    Control,
    /// All that it can do is to wait for the retransmission timer. Known once the timer has run out: until then it looks like another.
    Timeout,
}

impl Limit {
    /// All of them, in order.
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
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();
    /// The name in tables.
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
    /// Whether there is data that would go out otherwise.
    pub const fn wants(self) -> bool {
        !matches!(self, Self::Nothing | Self::Handshake | Self::Application)
    }
}
