//! Class trees through the conformance suite: schedulers, shapers and markers with queues of every kind in their classes.

use fairlane_net::{Backlog, BuildContext, FlowId, FlowInfo, LinkInfo, Packet, Proto, QCx, Qdisc};
use fairlane_queue::*;
use fairlane_testkit::cases;
use fairlane_testkit::conformance::{Arrival, Load, Outcome, Rules, check};
use fairlane_testkit::packet::PACKET;
use fairlane_units::{Bytes, Dur, Len, Rate, Time};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A queue of any kind, with queues of any kind inside: what the registry does, in small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Tree {
    DropTail(DropTailParams),
    Red(RedParams),
    Codel(CodelParams),
    Pie(PieParams),
    Sfq(SfqParams),
    Prio(PrioParams<Tree>),
    Rr(RrParams<Tree>),
    Wrr(WrrParams<Tree>),
    Wfq(WfqParams<Tree>),
    Wf2q(Wf2qParams<Tree>),
    Tbf(TbfParams<Tree>),
    Htb(HtbParams<Tree>),
    Hfsc(HfscParams<Tree>),
    Srtcm(SrtcmParams<Tree>),
    Trtcm(TrtcmParams<Tree>),
}

impl Default for Tree {
    fn default() -> Self {
        Self::DropTail(DropTailParams::default())
    }
}

trait AnyQueue: Qdisc + std::fmt::Debug {
    fn copy(&self) -> Box<dyn AnyQueue>;
}

impl<Q: Qdisc + Clone + std::fmt::Debug + 'static> AnyQueue for Q {
    fn copy(&self) -> Box<dyn AnyQueue> {
        Box::new(self.clone())
    }
}

#[derive(Debug)]
struct Node(Box<dyn AnyQueue>);

impl Clone for Node {
    fn clone(&self) -> Self {
        Self((*self.0).copy())
    }
}

impl Qdisc for Node {
    fn enqueue(&mut self, p: Packet, cx: &mut QCx<'_>) {
        self.0.enqueue(p, cx);
    }
    fn dequeue(&mut self, cx: &mut QCx<'_>) -> Option<Packet> {
        self.0.dequeue(cx)
    }
    fn pass(&mut self, p: &mut Packet, cx: &mut QCx<'_>) -> bool {
        self.0.pass(p, cx)
    }
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
    fn ready_at(&self) -> Option<Time> {
        self.0.ready_at()
    }
    fn on_timer(&mut self, cx: &mut QCx<'_>) -> Option<Time> {
        self.0.on_timer(cx)
    }
    fn has_timer(&self) -> bool {
        self.0.has_timer()
    }
    fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(out);
    }
    fn window_clamp(&self, flow: FlowId) -> Option<u32> {
        self.0.window_clamp(flow)
    }
    fn clamps(&self) -> bool {
        self.0.clamps()
    }
}

macro_rules! each {
    ($($variant:ident)*) => {
        impl Discipline for Tree {
            type Queue = Node;
            fn check(&self, context: &BuildContext<'_>) -> Result<(), Problem> {
                match self { $(Self::$variant(p) => p.check(context)),* }
            }
            fn build(&self, context: &BuildContext<'_>) -> Node {
                match self { $(Self::$variant(p) => Node(Box::new(p.build(context)))),* }
            }
            fn capabilities(&self) -> Capabilities {
                match self { $(Self::$variant(p) => p.capabilities()),* }
            }
        }
    };
}
each! { DropTail Red Codel Pie Sfq Prio Rr Wrr Wfq Wf2q Tbf Htb Hfsc Srtcm Trtcm }

const FLOWS: usize = 7;
const LENS: [u32; 3] = [40, 576, 1500];

fn link() -> LinkInfo {
    LinkInfo { rate: Rate::from_mbps(10), delay: Dur::from_ms(5) }
}

fn with_site<R>(f: impl FnOnce(&BuildContext<'_>) -> R) -> R {
    let names: Vec<String> = (0..FLOWS).map(|i| format!("f.{i}")).collect();
    let proto = |i: usize| if i.is_multiple_of(2) { Proto::Tcp } else { Proto::Udp };
    let flows: Vec<FlowInfo<'_>> =
        names.iter().enumerate().map(|(i, name)| FlowInfo { name, from: i as u32, to: 99, proto: proto(i) }).collect();
    f(&BuildContext { link: link(), flows: &flows })
}

fn load(seed: u64, us: u64) -> Vec<Arrival> {
    Load { packets: 2500, flows: FLOWS as u32, lens: &LENS, ect: 0.5, mean_gap: Dur::from_us(us) }.draw(seed)
}

fn conforms(tree: &Tree, arrivals: &[Arrival]) -> Result<Outcome, String> {
    let n = tree.capabilities();
    let rules = Rules { keeps_order: !n.reorders, work_conserving: !n.shapes, recolours: n.recolours, ..Rules::default() };
    with_site(|context| {
        tree.check(context).map_err(|p| format!("{}: {}", p.field, p.message))?;
        check(&tree.build(context), link(), arrivals, &rules)
    })
}

fn leaves() -> impl Strategy<Value = Tree> {
    let limit = prop_oneof![(1_u64..60).prop_map(Len::Packets), (1500_u64..60_000).prop_map(Len::Bytes)];
    prop_oneof![
        limit.clone().prop_map(|limit| Tree::DropTail(DropTailParams { limit, ..DropTailParams::default() })),
        (limit.clone(), any::<bool>()).prop_map(|(limit, ecn)| Tree::Red(RedParams {
            limit,
            tuning: RedTuning { ecn, w_q: Some(0.1), ..RedTuning::default() },
            ..RedParams::default()
        })),
        limit.prop_map(|limit| Tree::Codel(CodelParams {
            limit,
            times: CodelTimes { target: Dur::from_us(900), interval: Dur::from_ms(4), ..CodelTimes::default() },
            ..CodelParams::default()
        })),
        Just(Tree::Pie(PieParams::default())),
        Just(Tree::Sfq(SfqParams::default())),
    ]
}

fn matches() -> BoxedStrategy<Match> {
    prop_oneof![
        Just("tcp".into()),
        Just("udp".into()),
        Just("dscp:3".into()),
        Just("flow:f.2".into()),
        Just("flow:f.*".into()),
        Just("ecn:ect1".into()),
        Just(["dscp:af12", "flow:f.4", "ecn:ce"].into()),
    ]
    .boxed()
}

fn plain(classes: Vec<(Match, Tree, u32)>) -> Vec<ClassParams<Tree>> {
    classes.into_iter().map(|(select, queue, _)| ClassParams { select, queue }).collect()
}

fn shared(classes: Vec<(Match, Tree, u32)>) -> Vec<WeightedParams<Tree>> {
    classes.into_iter().map(|(select, queue, weight)| WeightedParams { select, queue, weight }).collect()
}

/// A tree of HTB with these as its leaves, below up to three others in a row; rates, bursts and priorities follow from `shape`.
fn borrowers(classes: Vec<(Match, Tree, u32)>, shape: u64) -> Vec<HtbClassParams<Tree>> {
    let above = 1 + (shape >> 8) % 3;
    let inner = (0..above).map(|i| HtbClassParams {
        name: format!("i{i}"),
        parent: (i > 0).then(|| format!("i{}", i - 1)),
        rate: Some(Rate::from_bps(4_000_000 + 1_000_000 * ((shape >> 16) % 8))),
        ..HtbClassParams::default()
    });
    let leaves = classes.into_iter().enumerate().map(|(k, (select, queue, weight))| HtbClassParams {
        select,
        queue,
        name: format!("leaf{k}"),
        parent: (weight > 1).then(|| format!("i{}", u64::from(weight) % above)),
        rate: Some(Rate::from_bps(u64::from(weight) * 100_000)),
        ceil: (weight % 2 == 0).then(|| Rate::from_mbps(8)),
        burst: Bytes(1500 * u64::from(weight % 4 + 1)),
        prio: weight % 3,
        quantum: (weight % 5 > 0).then_some(Bytes(700)),
        ..HtbClassParams::default()
    });
    inner.chain(leaves).collect()
}

/// A tree of HFSC with these as its leaves; curves follow from `shape`.
fn sharers(classes: Vec<(Match, Tree, u32)>, shape: u64) -> Vec<HfscClassParams<Tree>> {
    let curve = |m1: u64, m2: u64| {
        Some(ServiceCurve { m1: Some(Rate::from_bps(m1 * 1000)), d: Dur::from_ms(shape % 40), m2: Rate::from_bps(m2 * 1000) })
    };
    let above = 1 + (shape >> 8) % 3;
    let inner = (0..above).map(|i| HfscClassParams {
        name: format!("i{i}"),
        parent: (i > 0).then(|| format!("i{}", i - 1)),
        ls: curve(1000, 3000),
        ul: (i == 1).then(|| curve(9000, 4000 + shape % 3000)).flatten(),
        ..HfscClassParams::default()
    });
    let leaves = classes.into_iter().enumerate().map(|(k, (select, queue, weight))| HfscClassParams {
        select,
        queue,
        name: format!("leaf{k}"),
        parent: (weight > 1).then(|| format!("i{}", u64::from(weight) % above)),
        rt: (weight % 3 == 0).then(|| curve(u64::from(weight) * 50, u64::from(weight) * 70)).flatten(),
        ls: (weight % 4 > 0).then(|| curve(u64::from(weight) * 500, u64::from(weight) * 300)).flatten(),
        ul: (weight % 5 == 0).then(|| curve(5000, 3000)).flatten(),
    });
    inner.chain(leaves).collect()
}

/// Class trees of some depth.
fn trees() -> impl Strategy<Value = Tree> {
    leaves().prop_recursive(3, 24, 4, |inner| {
        let limit = proptest::option::of(prop_oneof![(5_u64..80).prop_map(Len::Packets), (3000_u64..90_000).prop_map(Len::Bytes)]);
        let class = (matches(), inner.clone(), 1_u32..20);
        let classes = (proptest::collection::vec(class, 1..5), limit).boxed();
        let boxed = inner.prop_map(Box::new).boxed();
        prop_oneof![
            (classes.clone(), any::<bool>()).prop_map(|((c, limit), yields)| Tree::Prio(PrioParams { classes: plain(c), limit, yields })),
            classes.clone().prop_map(|(c, limit)| Tree::Rr(RrParams { classes: plain(c), limit, ..RrParams::default() })),
            (boxed.clone(), proptest::option::of(1_u32..5)).prop_map(|(queue, queues)| Tree::Rr(RrParams {
                queues,
                queue,
                ..RrParams::default()
            })),
            (classes.clone(), any::<bool>(), 64_u64..3000).prop_map(|((c, limit), bytes, q)| {
                let count = if bytes { TurnUnit::Bytes } else { TurnUnit::Packets };
                Tree::Wrr(WrrParams { classes: shared(c), limit, count, quantum: Bytes(q), ..WrrParams::default() })
            }),
            (classes.clone(), any::<bool>()).prop_map(|((c, limit), gps)| {
                let clock = if gps { WfqClock::Gps } else { WfqClock::Scfq };
                Tree::Wfq(WfqParams { classes: shared(c), limit, clock, ..WfqParams::default() })
            }),
            boxed.clone().prop_map(|queue| Tree::Wfq(WfqParams { queue, ..WfqParams::default() })),
            classes.clone().prop_map(|(c, limit)| Tree::Wf2q(Wf2qParams { classes: shared(c), limit, ..Wf2qParams::default() })),
            (classes.clone(), any::<u64>()).prop_map(|((c, limit), shape)| Tree::Hfsc(HfscParams {
                classes: sharers(c, shape),
                limit,
                ..HfscParams::default()
            })),
            (classes, any::<u64>()).prop_map(|((c, limit), shape)| Tree::Htb(HtbParams {
                classes: borrowers(c, shape),
                limit,
                default: (shape % 3 == 0).then(|| "direct".into()),
                ..HtbParams::default()
            })),
            boxed.clone().prop_map(|queue| Tree::Wf2q(Wf2qParams { queue, ..Wf2qParams::default() })),
            (boxed.clone(), 1_u64..20, 1500_u64..9000).prop_map(|(queue, mbps, burst)| {
                Tree::Tbf(TbfParams { rate: Some(Rate::from_mbps(mbps)), burst: Bytes(burst), queue, ..TbfParams::default() })
            }),
            (boxed.clone(), matches(), any::<bool>()).prop_map(|(queue, select, drop)| {
                let red = if drop { "drop" } else { "af13" }.to_owned();
                Tree::Srtcm(SrtcmParams { queue, select, red, ..SrtcmParams::default() })
            }),
            boxed.prop_map(|queue| Tree::Trtcm(TrtcmParams {
                queue,
                per: MeterPer::Flow,
                mode: MeterMode::Aware,
                ..TrtcmParams::default()
            })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(192)))]

    #[test]
    fn class_trees_conform(tree in trees(), seed: u64, us in 200_u64..1200) {
        let out = conforms(&tree, &load(seed, us)).map_err(TestCaseError::fail)?;
        prop_assert_eq!(out.sent.len() + out.dropped.len(), 2500);
    }

    /// A tree that is written can be read back.
    #[test]
    fn trees_are_text(tree in trees()) {
        let text = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), tree);
    }
}

fn class(select: &str, queue: Tree) -> ClassParams<Tree> {
    ClassParams { select: select.into(), queue }
}

fn weighted(select: &str, weight: u32, queue: Tree) -> WeightedParams<Tree> {
    WeightedParams { select: select.into(), queue, weight }
}

/// A class that takes everything is as good as its queue alone: same timers, same random numbers, same drops.
#[test]
fn one_class_is_the_queue_itself() {
    let pie = Tree::Pie(PieParams { marks: PieMarks { ecn: false, ..PieMarks::default() }, ..PieParams::default() });
    let red = Tree::Red(RedParams { tuning: RedTuning { w_q: Some(0.1), ..RedTuning::default() }, ..RedParams::default() });
    for inner in [pie, red, Tree::Codel(CodelParams::default())] {
        for seed in 1..4 {
            let arrivals = load(seed, 400);
            let alone = conforms(&inner, &arrivals).unwrap();
            assert!(!alone.dropped.is_empty() || !matches!(inner, Tree::Red(_)));
            let queue = Box::new(inner.clone());
            let one = || vec![weighted("any", 3, inner.clone())];
            for tree in [
                Tree::Prio(PrioParams { classes: vec![class("any", inner.clone())], ..PrioParams::default() }),
                Tree::Rr(RrParams { queues: Some(1), queue: queue.clone(), ..RrParams::default() }),
                Tree::Wrr(WrrParams { classes: one(), ..WrrParams::default() }),
                Tree::Wfq(WfqParams { classes: one(), ..WfqParams::default() }),
                Tree::Wf2q(Wf2qParams { classes: one(), ..Wf2qParams::default() }),
                Tree::Tbf(TbfParams { burst: Bytes(1_000_000_000), queue: queue.clone(), ..TbfParams::default() }),
                Tree::Srtcm(SrtcmParams {
                    green: "keep".into(),
                    yellow: "keep".into(),
                    red: "keep".into(),
                    queue,
                    ..SrtcmParams::default()
                }),
            ] {
                assert_eq!(conforms(&tree, &arrivals).unwrap(), alone, "{tree:?}");
            }
        }
    }
}

/// Bytes sent by even flows (TCP) and odd ones until `until`.
fn shares(out: &Outcome, arrivals: &[Arrival], until: Time) -> [u64; 2] {
    let mut sum = [0; 2];
    for &(id, _) in out.sent.iter().filter(|s| s.1 < until) {
        let a = &arrivals[id as usize];
        sum[(a.flow % 2) as usize] += u64::from(a.len);
    }
    sum
}

/// A shaped class holds back only itself: first the shaped class's rate, and all the rest for the other.
#[test]
fn a_class_that_may_not_send_does_not_block_the_others() {
    let arrivals = load(3, 150);
    let last: Dur = arrivals.iter().fold(Dur::ZERO, |t, a| t + a.gap);
    let end = Time::ZERO + last;
    let shaped = || Tree::Tbf(TbfParams { rate: Some(Rate::from_mbps(1)), burst: Bytes(3000), ..TbfParams::default() });
    let plain = Tree::default;
    for tree in [
        Tree::Prio(PrioParams { classes: vec![class("tcp", shaped()), class("udp", plain())], ..PrioParams::default() }),
        Tree::Rr(RrParams { classes: vec![class("tcp", shaped()), class("udp", plain())], ..RrParams::default() }),
        Tree::Wrr(WrrParams {
            classes: vec![weighted("tcp", 9, shaped()), weighted("udp", 1, plain())],
            count: TurnUnit::Bytes,
            ..WrrParams::default()
        }),
        Tree::Wfq(WfqParams { classes: vec![weighted("tcp", 9, shaped()), weighted("udp", 1, plain())], ..WfqParams::default() }),
        Tree::Wf2q(Wf2qParams { classes: vec![weighted("tcp", 9, shaped()), weighted("udp", 1, plain())], ..Wf2qParams::default() }),
    ] {
        let out = conforms(&tree, &arrivals).unwrap();
        let [tcp, udp] = shares(&out, &arrivals, end);
        let most = 1_000_000.0 / 8.0 * end.as_secs_f64() + 3000.0;
        assert!(tcp as f64 <= most && tcp as f64 >= most - 3000.0 - 1500.0, "{tcp} of {most}");
        // The link was never idle: UDP had all the rest, but for what is still in transmission.
        let all = 10_000_000.0 / 8.0 * end.as_secs_f64();
        assert!((all - (tcp + udp) as f64) < 0.01 * all, "{} of {all}: {tree:?}", tcp + udp);
    }
}

/// Gauges carry the class before the name of the inner queue's own.
#[test]
fn gauges_are_named_by_class() {
    let inner = Tree::Prio(PrioParams { classes: vec![class("any", Tree::Red(RedParams::default()))], ..PrioParams::default() });
    let tree =
        Tree::Wfq(WfqParams { classes: vec![weighted("tcp", 1, Tree::default()), weighted("any", 1, inner)], ..WfqParams::default() });
    let mut names = vec![];
    tree.build(&link().into()).gauges(&mut |name, _| names.push(name));
    assert_eq!(names[..3], ["class0_queue", "class1_queue", "class1_class0_queue"]);
    assert!(names[3..].iter().all(|n| n.starts_with("class1_class0_")) && names.len() > 3, "{names:?}");
}

/// A queue that rewrites windows speaks for the flows that last sent to it, and for no others.
#[test]
fn windows_are_clamped_by_the_class_of_the_flow() {
    #[derive(Clone, Debug, Default)]
    struct Clamping(Option<u32>, Backlog);
    impl Qdisc for Clamping {
        fn enqueue(&mut self, p: Packet, _: &mut QCx<'_>) {
            self.1.add(&p);
        }
        fn dequeue(&mut self, _: &mut QCx<'_>) -> Option<Packet> {
            None
        }
        fn backlog(&self) -> Backlog {
            self.1
        }
        fn window_clamp(&self, _: FlowId) -> Option<u32> {
            self.0
        }
        fn clamps(&self) -> bool {
            self.0.is_some()
        }
    }
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct ClampingParams(Option<u32>);
    impl Discipline for ClampingParams {
        type Queue = Clamping;
        fn build(&self, _: &BuildContext<'_>) -> Clamping {
            Clamping(self.0, Backlog::default())
        }
    }
    let class = |select: &str, most| ClassParams { select: select.into(), queue: ClampingParams(most) };
    let p = PrioParams { classes: vec![class("dscp:1", Some(5000)), class("any", None)], ..PrioParams::default() };
    let mut q = p.build(&link().into());
    assert!(q.clamps());
    let (mut rng, mut drops) = (fairlane_engine::Stream::new(1, "a", "b", "c"), vec![]);
    let pkt = |flow, class| Packet { len: 100, flow: FlowId(flow), class: fairlane_net::Class(class), ..PACKET };
    for p in [pkt(0, 1), pkt(2, 0)] {
        q.enqueue(p, &mut QCx { now: Time::ZERO, rng: &mut rng, drops: &mut drops, marks: 0 });
    }
    assert_eq!([0, 1, 2].map(|f| q.window_clamp(FlowId(f))), [Some(5000), None, None]);
}
