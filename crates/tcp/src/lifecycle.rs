//! Connection state used at the start, at the end and for errors.

use crate::ns3_socket::Socket;
use fairlane_units::Time;
use std::ops::{Deref, DerefMut};

/// Why there is no connection any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// It is there, or both ends closed it.
    #[default]
    No,
    /// The peer did not want it.
    Refused,
    /// The peer reset it.
    Reset,
    /// This end reset it.
    Aborted,
}

/// What of a connection matters at its beginning, at its end, and when something is wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// The peer closed first.
    pub(crate) peer_first: bool,
    /// Why it is no more.
    pub(crate) ended: Ended,
    /// When TIME-WAIT began, for the last time.
    pub(crate) since: Time,
    /// Challenge ACKs that may still go, and when as many may again.
    pub(crate) challenges: u32,
    pub(crate) renewed: Time,
    /// Where a socket of ns-3 stands.
    pub(crate) socket: Socket,
}

impl Standing {
    const PLAIN: &Self =
        &Self { peer_first: false, ended: Ended::No, since: Time::ZERO, challenges: 0, renewed: Time::ZERO, socket: Socket::PLAIN };
}

/// [`Standing`], made when there is anything to say: of the connections of a large network most are far from their end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stands(Option<Box<Standing>>);

impl Deref for Stands {
    type Target = Standing;
    fn deref(&self) -> &Standing {
        self.0.as_deref().unwrap_or(Standing::PLAIN)
    }
}

impl DerefMut for Stands {
    fn deref_mut(&mut self) -> &mut Standing {
        self.0.get_or_insert_default()
    }
}
