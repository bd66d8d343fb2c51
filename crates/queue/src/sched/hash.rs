//! Which of its queues a fair scheduler puts a packet into.

use fairlane_engine::Stream;
use fairlane_net::{BuildContext, Packet};
use std::collections::BTreeMap;

fairlane_units::params! {
    /// Field that the packets of one queue share.
    pub enum HashBy {
        /// The flow and its direction: addresses, ports and protocol.
        #[default]
        Flow,
        /// The source address.
        Source,
        /// The destination address.
        Destination,
        /// Source and destination address.
        Pair,
        /// The source address by the function of ns-2's DRR, which spreads small addresses evenly.
        Ns2Source,
        /// Source plus destination address by the function of ns-2's SFQ.
        Ns2Sum,
    }
}

/// A hash whose bits all depend on all bits of `x` (the finaliser of SplitMix64, Steele, Lea and Flood 2014).
#[inline]
pub(crate) const fn mix(x: u64) -> u64 {
    let z = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Spreads a hash over `0..n` by its upper half.
#[inline]
pub(crate) const fn reduce(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * n as u64) >> 32) as u32
}

/// ns-2.35's hash of an address (DRR) or a sum of two (SFQ): x + floor(x / 256) - floor(x / 16) - 1, modulo `modulus`.
const fn ns2_hash(x: u32, modulus: i64) -> i64 {
    let x = x as i64;
    (x + (x >> 8) - (x >> 4) - 1) % modulus
}

/// Moduli of the two functions: 2^24 - 1 and 2^20 - 1.
const NS2_DRR_MODULUS: i64 = (1 << 24) - 1;
const NS2_SFQ_MODULUS: i64 = (1 << 20) - 1;

/// Number of a flow and direction.
#[inline]
pub(crate) const fn lane(p: &Packet) -> usize {
    p.flow.0 as usize * 2 + p.back as usize
}

/// Source and destination address of packets, by flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Addresses(Vec<[u32; 2]>);

impl Addresses {
    pub(crate) fn new(context: &BuildContext<'_>) -> Self {
        Self(context.flows().iter().map(|f| [f.from, f.to]).collect())
    }

    /// Returns source and destination. Undeclared flows have distinct addresses.
    #[inline]
    pub(crate) fn of(&self, p: &Packet) -> [u32; 2] {
        let flow = p.flow.0;
        let [from, to] = self.0.get(flow as usize).copied().unwrap_or([flow.wrapping_mul(2), flow.wrapping_mul(2).wrapping_add(1)]);
        if p.back { [to, from] } else { [from, to] }
    }
}

/// Maps packets to queues.
#[derive(Clone, Debug)]
pub(crate) struct FlowMap {
    by: HashBy,
    addresses: Addresses,
    /// Queue + 1 by lane, 0 for a lane not seen yet.
    queue_of: Vec<u32>,
    mode: Mode,
}

#[derive(Clone, Debug)]
enum Mode {
    /// A queue for each identity.
    Exact(BTreeMap<u64, u32>),
    /// A fixed number of queues. The salt is drawn with the first packet.
    Hashed { buckets: u32, salt: Option<u64> },
}

impl FlowMap {
    /// A map to `buckets` queues, or to one for each identity if there is no such number.
    pub(crate) fn new(by: HashBy, buckets: Option<u32>, salt: Option<u64>, context: &BuildContext<'_>) -> Self {
        let mode = match buckets {
            None => Mode::Exact(BTreeMap::new()),
            Some(n) => Mode::Hashed { buckets: n.max(1), salt },
        };
        // If flows are distinguished by number, addresses are not needed.
        let addresses = if by == HashBy::Flow { Addresses(vec![]) } else { Addresses::new(context) };
        Self { by, addresses, queue_of: vec![], mode }
    }

    #[inline]
    fn identity(&self, p: &Packet) -> u64 {
        if self.by == HashBy::Flow {
            return lane(p) as u64;
        }
        let [src, dst] = self.addresses.of(p);
        match self.by {
            HashBy::Flow | HashBy::Pair => u64::from(src) << 32 | u64::from(dst),
            HashBy::Source | HashBy::Ns2Source => u64::from(src),
            HashBy::Destination => u64::from(dst),
            HashBy::Ns2Sum => u64::from(src.wrapping_add(dst)),
        }
    }

    /// The queue of this packet. Without a fixed number of queues the answer is at most one above all answers before.
    #[inline]
    pub(crate) fn queue(&mut self, p: &Packet, rng: &mut Stream) -> usize {
        match self.queue_of.get(lane(p)) {
            Some(&q) if q > 0 => q as usize - 1,
            _ => self.first_seen(p, rng),
        }
    }

    /// Works out the queue of a flow and direction; it stays the same until the salt is changed.
    #[cold]
    fn first_seen(&mut self, p: &Packet, rng: &mut Stream) -> usize {
        let id = self.identity(p);
        let q = match &mut self.mode {
            Mode::Exact(known) => {
                let next = known.len() as u32;
                *known.entry(id).or_insert(next)
            }
            Mode::Hashed { buckets, salt } => match self.by {
                // ns-2's DRR adds one before it reduces; its SFQ would fall off its array for the sum 0, which two nodes cannot have.
                HashBy::Ns2Source => ((ns2_hash(id as u32, NS2_DRR_MODULUS) + 1) % i64::from(*buckets)) as u32,
                HashBy::Ns2Sum => (ns2_hash(id as u32, NS2_SFQ_MODULUS).max(0) % i64::from(*buckets)) as u32,
                _ => reduce(mix(id ^ *salt.get_or_insert_with(|| rng.next_u64())), *buckets),
            },
        };
        if self.queue_of.len() <= lane(p) {
            self.queue_of.resize(lane(p) + 1, 0);
        }
        self.queue_of[lane(p)] = q + 1;
        q as usize
    }

    /// All bits of the hash, for those that reduce it themselves.
    #[inline]
    pub(crate) fn hash(&mut self, p: &Packet, rng: &mut Stream) -> u64 {
        let id = self.identity(p);
        match &mut self.mode {
            Mode::Hashed { salt, .. } => mix(id ^ *salt.get_or_insert_with(|| rng.next_u64())),
            Mode::Exact(_) => mix(id),
        }
    }

    /// Draws another salt.
    pub(crate) fn perturb(&mut self, rng: &mut Stream) {
        if let Mode::Hashed { salt, .. } = &mut self.mode {
            *salt = Some(rng.next_u64());
            self.queue_of.fill(0);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fairlane_net::{FlowId, FlowInfo, LinkInfo, PacketRef, Proto};
    use fairlane_testkit::packet::PACKET;
    use fairlane_units::{Dur, Rate};

    /// A packet for tests of schedulers.
    pub(crate) fn pkt(id: u32, flow: u32, len: u32) -> Packet {
        Packet { id: PacketRef(id), len, flow: FlowId(flow), proto: Proto::Udp, ..PACKET }
    }

    pub(crate) fn link() -> LinkInfo {
        LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(20) }
    }

    pub(crate) fn flows(ends: &[[u32; 2]]) -> Vec<FlowInfo<'static>> {
        ends.iter().map(|&[from, to]| FlowInfo { name: "f", from, to, proto: Proto::Udp }).collect()
    }

    fn rng() -> Stream {
        Stream::new(1, "test", "hash", "")
    }

    /// The functions of ns-2.35's drr.cc and sfq.cc worked out by hand for the dumbbell of the reference cases (r1 and r2 are
    /// 0 and 1, source i is 2 + 2i): with 16 buckets sources 2, 4 .. 14 stay apart, and 16 (floor(16/16) = 1) falls on 15.
    #[test]
    fn ns2_functions() {
        let ends: Vec<_> = (0..20).map(|i| [2 + 2 * i, 3 + 2 * i]).collect();
        let flows = flows(&ends);
        let context = BuildContext { link: link(), flows: &flows };
        let mut drr = FlowMap::new(HashBy::Ns2Source, Some(64), None, &context);
        let got: Vec<_> = (0..10).map(|i| drr.queue(&pkt(0, i, 100), &mut rng())).collect();
        assert_eq!(got, [2, 4, 6, 8, 10, 12, 14, 15, 17, 19]);
        // 5 + 4i less one, less floor((5 + 4i) / 16).
        let mut sfq = FlowMap::new(HashBy::Ns2Sum, Some(16), None, &context);
        let got: Vec<_> = (0..6).map(|i| sfq.queue(&pkt(0, i, 100), &mut rng())).collect();
        assert_eq!(got, [4, 8, 12, 15, 19 % 16, 23 % 16]);
        // ns-2's reference run of 20 flows over SFQ(32) and DRR(64): flows 0, 1, 17 and 18 get half the rate of the others under SFQ,
        // because 0 shares a queue with 17 or 18, and 1 with the other; no flow shares under DRR.
        let mut sfq = FlowMap::new(HashBy::Ns2Sum, Some(32), None, &context);
        let q: Vec<_> = (0..20).map(|i| sfq.queue(&pkt(0, i, 100), &mut rng())).collect();
        let shared: Vec<_> = (0..20).filter(|&i| q.iter().filter(|&&x| x == q[i]).count() > 1).collect();
        assert_eq!(shared, [0, 1, 17, 18]);
        let mut seen: Vec<_> = (0..20).map(|i| drr.queue(&pkt(0, i, 100), &mut rng())).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 20);
    }

    #[test]
    fn one_queue_for_each_identity() {
        let flows = flows(&[[2, 9], [3, 9], [2, 9], [9, 3]]);
        let context = BuildContext { link: link(), flows: &flows };
        let queues = |by: HashBy| -> Vec<usize> {
            let mut m = FlowMap::new(by, None, None, &context);
            let there = (0..4).map(|i| pkt(0, i, 100));
            there.chain([Packet { back: true, ..pkt(0, 1, 40) }]).map(|p| m.queue(&p, &mut rng())).collect()
        };
        // The last packet goes back from 9 to 3.
        assert_eq!(queues(HashBy::Flow), [0, 1, 2, 3, 4]);
        assert_eq!(queues(HashBy::Source), [0, 1, 0, 2, 2]);
        assert_eq!(queues(HashBy::Destination), [0, 0, 0, 1, 1]);
        assert_eq!(queues(HashBy::Pair), [0, 1, 0, 2, 2]);
    }

    /// A good hash throws n flows into m buckets as balls into urns: m (1 - (1 - 1/m)^n) of them are hit in the mean.
    #[test]
    fn hash_spreads_like_balls_into_urns() {
        let (n, m) = (200_u32, 256_u32);
        let expected = f64::from(m) * (1.0 - (1.0 - 1.0 / f64::from(m)).powi(n as i32));
        let mut total = 0;
        for salt in 0..50 {
            let mut map = FlowMap::new(HashBy::Flow, Some(m), Some(salt), &link().into());
            let mut hit = vec![false; m as usize];
            (0..n).for_each(|i| hit[map.queue(&pkt(0, i, 100), &mut rng())] = true);
            total += hit.iter().filter(|&&h| h).count();
        }
        // The deviation of one draw is about 5.5 buckets, of the mean of 50 below 0.8.
        let mean = total as f64 / 50.0;
        assert!((mean - expected).abs() < 3.0, "{mean} against {expected}");
    }

    #[test]
    fn salt_comes_from_the_stream_unless_given() {
        let many = |salt, seed| -> Vec<usize> {
            let mut m = FlowMap::new(HashBy::Flow, Some(1024), salt, &link().into());
            let mut rng = Stream::new(seed, "test", "hash", "");
            (0..20).map(|i| m.queue(&pkt(0, i, 100), &mut rng)).collect()
        };
        assert_ne!(many(None, 1), many(None, 2));
        assert_eq!(many(Some(0), 1), many(Some(0), 2));
    }
}
