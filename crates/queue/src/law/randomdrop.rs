//! Random drop: when the buffer is full, a packet chosen at random makes room.

use super::headdrop::check_limit;
use super::{Law, LawCx, Victim};
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::{BuildContext, Packet};
use fairlane_units::Len;

fairlane_units::params! {
    /// Random drop: first in, first out; an arrival that finds no room takes the place of a packet chosen at random among those waiting, so that
    /// flows lose in proportion to what they have in the queue (Mankin 1990; RFC 1254 section 4.3).
    pub struct RandomDropParams {
        /// Buffer limit in packets or bytes, without the packet in transmission. In bytes, the packets behind the chosen one go,
        /// too, until the arriving one has room.
        pub limit: Len = Len::Packets(1000),
        /// Which arrivals the limit admits without a drop.
        pub admit: Admit = Admit::Fits,
        /// True if the arriving packet may be chosen like any other (drop_rand_ of ns-2's RED) instead of always being kept.
        pub arriving: bool = false,
    }
}

impl Discipline for RandomDropParams {
    type Queue = Fifo<RandomDrop>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        check_limit(self.limit, self.admit)
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<RandomDrop> {
        Fifo::new(RandomDrop { arriving: self.arriving }, Limit::new(self.limit, self.admit))
    }
}

/// The law that draws lots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomDrop {
    arriving: bool,
}

impl Law for RandomDrop {
    #[inline]
    fn on_overflow(&mut self, _: &Packet, cx: &mut LawCx<'_>) -> Victim {
        let waiting = cx.queue.len();
        match waiting + usize::from(self.arriving) {
            0 => Victim::Arriving,
            candidates => match cx.rng.below(candidates as u64) as usize {
                i if i < waiting => Victim::At(i),
                _ => Victim::Arriving,
            },
        }
    }
}
