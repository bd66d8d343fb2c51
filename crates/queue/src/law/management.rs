//! Management: the FIFO of Syla, Alla and Xhabafti (2022), which is DropTail with room for one packet less.

use super::droptail::DropTail;
use crate::discipline::{Discipline, Problem};
use crate::limit::{Admit, Limit};
use crate::sched::fifo::Fifo;
use fairlane_net::BuildContext;
use fairlane_units::Len;

fairlane_units::params! {
    /// Management: first in, first out; an arrival joins the queue and is taken out again and dropped if the length has thereby reached the limit
    /// (Syla, Alla and Xhabafti 2022, part 3). Of a limit of n packets, n - 1 wait: the same as DropTail in ns-2.
    pub struct ManagementParams {
        /// Number of packets at which the newest is dropped, the arriving one counted and the one in transmission not. With a limit of "1p" or "0p"
        /// nothing passes, not even before an idle link.
        pub limit: Len = Len::Packets(50),
    }
}

impl Discipline for ManagementParams {
    type Queue = Fifo<DropTail>;

    fn check(&self, _: &BuildContext<'_>) -> Result<(), Problem> {
        match self.limit {
            Len::Packets(_) => Ok(()),
            Len::Bytes(_) => {
                Err(Problem::new("limit", format!("{} is in bytes, but this queue counts packets: write \"50p\"", self.limit)))
            }
        }
    }

    fn build(&self, _: &BuildContext<'_>) -> Fifo<DropTail> {
        Fifo::new(DropTail, Limit::new(self.limit, Admit::Under))
    }
}
