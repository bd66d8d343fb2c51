//! Host isolation of CAKE: a flow's turn is worth the less the more flows its host keeps busy.

use super::super::flow_queues::Shares;
use super::super::hash::HashBy;
use super::wire::Wire;

fairlane_units::params! {
    /// Between whom CAKE shares the rate (tc-cake's flow isolation parameters).
    pub enum CakeIsolation {
        /// One queue for all flows.
        Flowblind,
        /// Source hosts.
        Srchost,
        /// Destination hosts.
        Dsthost,
        /// Pairs of hosts.
        Hosts,
        /// Flows.
        Flows,
        /// Source hosts, then the flows of each.
        DualSrchost,
        /// Destination hosts, then the flows of each.
        DualDsthost,
        /// Hosts on both sides, then flows: a flow counts by whichever of its hosts has more.
        #[default]
        TripleIsolate,
    }
}

impl CakeIsolation {
    /// Field that the packets of one queue share.
    pub(crate) const fn hash_by(self) -> HashBy {
        match self {
            Self::Srchost => HashBy::Source,
            Self::Dsthost => HashBy::Destination,
            Self::Hosts => HashBy::Pair,
            Self::Flowblind | Self::Flows | Self::DualSrchost | Self::DualDsthost | Self::TripleIsolate => HashBy::Flow,
        }
    }

    /// True if the source and the destination host of a flow count.
    const fn counts(self) -> [bool; 2] {
        match self {
            Self::DualSrchost => [true, false],
            Self::DualDsthost => [false, true],
            Self::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }
}

/// Who sends to whom in each queue of a tin, and how many bulk flows each host has there.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    counts: [bool; 2],
    /// Addresses of the flow that a queue was given to.
    ends: Vec<[u32; 2]>,
    /// Bulk flows from and to each address.
    bulk: Vec<[u32; 2]>,
    /// Remainders of earlier divisions of a queue's quantum.
    rest: Vec<u32>,
    wire: Wire,
}

impl Hosts {
    pub(crate) fn new(isolation: CakeIsolation, queues: usize, wire: Wire) -> Self {
        Self { counts: isolation.counts(), ends: vec![[0; 2]; queues], bulk: vec![], rest: vec![0; queues], wire }
    }

    /// Queue `i` is given to a flow with these addresses.
    #[inline]
    pub(crate) fn assign(&mut self, i: usize, ends: [u32; 2]) {
        self.ends[i] = ends;
        let most = ends[0].max(ends[1]) as usize;
        if self.bulk.len() <= most {
            self.bulk.resize(most + 1, [0; 2]);
        }
    }

    /// Flows that share the turn of the host with queue `i`.
    #[inline]
    fn load(&self, i: usize) -> u32 {
        let side = |k: usize| if self.counts[k] { self.bulk.get(self.ends[i][k] as usize).map_or(0, |b| b[k]) } else { 0 };
        side(0).max(side(1)).max(1)
    }
}

impl Shares for Hosts {
    // cake_dequeue looks at no queue where nothing waits.
    const FORGETS_WHEN_IDLE: bool = false;

    #[inline]
    fn quantum(&mut self, i: usize, quantum: i64) -> i64 {
        // What a division leaves over is given later, so that hosts with many flows get their share to the byte.
        let (load, rest) = (self.load(i), &mut self.rest[i]);
        // A quantum has 32 bits, and so have a load and what is left over.
        let all = quantum as u64 + u64::from(*rest);
        let (share, over) = match u32::try_from(all) {
            Ok(all) => (u64::from(all / load), all % load),
            Err(_) => (all / u64::from(load), (all % u64::from(load)) as u32),
        };
        *rest = over;
        share as i64
    }

    fn quanta(&mut self, i: usize, quantum: i64, turns: u64) -> i64 {
        if turns == 0 {
            return 0;
        }
        let (load, rest) = (u64::from(self.load(i)), &mut self.rest[i]);
        // What turns leave over adds up: together they give what one with the sum of their quanta gives.
        let all = u128::from(quantum as u64) * u128::from(turns) + u128::from(*rest);
        *rest = (all % u128::from(load)) as u32;
        (all / u128::from(load)) as i64
    }

    fn turns_until(&self, i: usize, quantum: i64, bytes: i64) -> u64 {
        let all = u64::from(self.load(i)).saturating_mul(bytes.max(1) as u64);
        all.saturating_sub(u64::from(self.rest[i])).div_ceil(quantum.max(1) as u64).max(1)
    }

    #[inline]
    fn cost(&self, len: u32) -> i64 {
        self.wire.framed(len) as i64
    }

    #[inline]
    fn bulk(&mut self, i: usize, is: bool) {
        for (k, &end) in self.ends[i].iter().enumerate() {
            let n = &mut self.bulk[end as usize][k];
            *n = if is { *n + 1 } else { *n - 1 };
        }
    }
}
