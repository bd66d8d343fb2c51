//! Tables of a run: each metric of each subject of a finished world.

use super::bottleneck::{Bottlenecks, fair, jain, together};
use super::quality::{Video, Voice};
use super::{
    FLOW_METRICS, FlowSubject, GroupSubject, LINK_METRICS, LinkSubject, Metric, NETWORK_METRICS, NetworkSubject, STATION_METRICS,
    StationSubject, group, ratio, secs,
};
use fairlane_engine::EventQueue;
use fairlane_net::{Channel, Components, DropReason, EpId, Flow, FlowId, Port, PortId, Qdisc, Summary, World};
use fairlane_traffic::e_model::Call;
use fairlane_units::{Dur, Name, Time};

/// Columns of one table: names and numbers, one row per subject.
pub type Columns = Vec<(&'static str, Vec<f64>)>;

/// Metrics to compute, as pairs of table and metric; none: all.
pub type Keep<'a> = Option<&'a [(String, String)]>;

/// The metrics of a table that are to be computed.
fn kept<S>(keep: Keep<'_>, table: &str, metrics: &'static [Metric<S>]) -> Vec<&'static Metric<S>> {
    metrics.iter().filter(|m| keep.is_none_or(|all| all.iter().any(|(t, name)| t == table && name == m.name))).collect()
}

/// Computes rows subject by subject, so that memory holds numbers, not copies of histograms.
fn columns<S>(metrics: &[&Metric<S>], subjects: impl Iterator<Item = S>) -> Columns {
    let mut table: Columns = metrics.iter().map(|m| (m.name, Vec::with_capacity(subjects.size_hint().0))).collect();
    for s in subjects {
        for (m, (_, column)) in metrics.iter().zip(&mut table) {
            column.push((m.value)(&s));
        }
    }
    table
}

/// Computes rows of many large parts. Each part is freed with its row, last first, so that the table replaces the parts in memory.
fn columns_of<S, T>(metrics: &[&Metric<S>], mut parts: Vec<T>, subject: impl Fn(usize, T) -> S) -> Columns {
    let mut table: Columns = metrics.iter().map(|m| (m.name, vec![0.0; parts.len()])).collect();
    while let Some(part) = parts.pop() {
        let row = parts.len();
        let s = subject(row, part);
        metrics.iter().zip(&mut table).for_each(|(m, (_, column))| column[row] = (m.value)(&s));
        if row.is_multiple_of(AT_ONCE) {
            parts.shrink_to_fit();
        }
    }
    table
}

/// Parts that are freed together.
const AT_ONCE: usize = 1 << 14;

/// The tables of a run.
pub struct Measured {
    /// One row per flow; empty if groups are reported.
    pub flows: Columns,
    /// One row per group, if groups are reported.
    pub groups: Columns,
    /// One row per link direction.
    pub links: Columns,
    /// One row.
    pub network: Columns,
}

/// Rows besides those of links and the network.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    /// A row for each flow.
    Flows,
    /// A row per group: the number of groups, and the group of each flow.
    Groups(usize, &'a dyn Fn(usize) -> usize),
}

/// Metrics of links that are summed for the whole network.
const ADDED_LINKS: [&str; 3] = ["drops", "lost", "marks"];

/// Metrics of flows that are summed for the whole network.
const ADDED: [&str; 6] = ["throughput", "packets_received", "packets_sent", "packets_lost", "retransmits", "timeouts"];

/// Computes every metric of a finished world and frees it. `reported`: numbers of the reported flows. `names`: link names by port.
/// `after_first`: summaries of the hop probe, by flow. `call`: the telephone call that a flow carries. `keep`: the metrics of flows, links and the network
/// to compute, and perhaps others.
pub fn measure<P: Components, H: EventQueue>(
    world: World<P, H>,
    reported: &[u32],
    names: &[Name],
    is_tcp: &[bool],
    after_first: Option<&[Summary]>,
    call: &dyn Fn(usize) -> Option<Call>,
    (rows, keep): (Rows<'_>, Keep<'_>),
) -> Measured {
    let of_network = kept(keep, "network", NETWORK_METRICS);
    let of_flows = kept(keep, "flows", FLOW_METRICS);
    let mut of_links = kept(keep, "links", LINK_METRICS);
    let of_stations = kept(keep, "links", STATION_METRICS);
    if !of_network.is_empty() && keep.is_some() {
        let added = LINK_METRICS.iter().filter(|m| ADDED_LINKS.contains(&m.name));
        of_links.extend(added.filter(|m| !of_links.iter().any(|own| own.name == m.name)).collect::<Vec<_>>());
    }
    let (from, now) = (world.reset_at(), world.now());
    let span = (now - from).as_secs_f64();
    let goodputs: Vec<f64> = reported.iter().map(|&i| world.arrived(FlowId(i)) as f64 * 8.0 / span).collect();
    let bottlenecks = Bottlenecks::new(&world, reported, names);
    let fair = fair(&goodputs, &bottlenecks.at);
    let worst_share = goodputs.iter().zip(&fair).map(|(x, mean)| ratio(*x, *mean)).fold(f64::NAN, f64::min);

    let never = Flow::default();
    let subject = |k: usize, i: usize| {
        let id = FlowId(i as u32);
        let sender = EpId::sender(id);
        let first = world.route(sender).next().map_or(Dur::ZERO, |p| world.port(p).link().delay);
        let flow = world.flow(id).unwrap_or(&never);
        let done = flow.completed != Time::MAX;
        FlowSubject {
            flows: 1.0,
            counters: flow.counters.clone(),
            view: world.view(sender),
            base: flow.base.as_deref().copied().unwrap_or_default(),
            arrived: world.arrived(id),
            span,
            fair: fair[k],
            shares: ratio(goodputs[k], fair[k]),
            after_first: after_first.map_or((0.0, 0), |t| (secs(t[i].mean()) + first.as_secs_f64(), t[i].n)),
            lasted: if done { (u128::from((flow.completed - flow.started).as_ps()), 1) } else { (0, 0) },
            opened: world.opened(id),
            voice: call(i).map_or_else(Voice::default, |c| Voice::of(&flow.counters, &c)),
            video: Video::of(flow.counters.playback.as_deref(), now),
        }
    };
    let added: Vec<&Metric<FlowSubject>> = ADDED.iter().filter_map(|name| FLOW_METRICS.iter().find(|m| m.name == *name)).collect();
    let mut sums = [0.0; ADDED.len()];
    let mut groups: Vec<GroupSubject> = Vec::new();
    let flows = match rows {
        // Without a metric of flows, the sums alone are needed, or nothing.
        Rows::Flows if of_flows.is_empty() && of_network.is_empty() => Columns::new(),
        Rows::Flows => {
            let subjects = reported.iter().enumerate().map(|(k, &i)| subject(k, i as usize));
            columns(&of_flows, subjects.inspect(|s| sums.iter_mut().zip(&added).for_each(|(sum, m)| *sum += (m.value)(s))))
        }
        Rows::Groups(count, group) => {
            groups.resize_with(count, GroupSubject::default);
            let mut ended = FlowSubject { span, ..FlowSubject::default() };
            for (k, &i) in reported.iter().enumerate() {
                let (goodput, at) = (goodputs[k], bottlenecks.at[k]);
                if let Some((flow, sum)) = world.ended(FlowId(i)) {
                    groups[sum].add_ended(flow.arrived, goodput, fair[k], ratio(goodput, fair[k]), at);
                    // Its rate is no whole number, so it is added in its turn. The other sums of ended flows follow below.
                    ended.counters.received_bytes = flow.received;
                    sums[0] += (added[0].value)(&ended);
                    continue;
                }
                let s = subject(k, i as usize);
                sums.iter_mut().zip(&added).for_each(|(sum, m)| *sum += (m.value)(&s));
                groups[group(i as usize)].add(&s, goodput, at);
            }
            for (group, sum) in groups.iter_mut().zip(world.sums()) {
                group.add_sum(sum, span);
                let s = FlowSubject::of_sum(sum, span);
                sums.iter_mut().zip(&added).skip(1).for_each(|(sum, m)| *sum += (m.value)(&s));
            }
            Columns::new()
        }
    };
    let groups = if groups.is_empty() { Columns::new() } else { group::rows(&groups) };
    let [throughput, received, sent, lost, retransmits, timeouts] = sums;
    let mut tcp_flows = vec![0; world.ports().len()];
    for i in reported.iter().copied().filter(|&i| is_tcp[i as usize]) {
        world.passed(EpId::sender(FlowId(i))).into_iter().for_each(|p| tcp_flows[p.0 as usize] += 1);
    }
    let [mut delay, mut foreign, mut own] = [Summary::default(), Summary::default(), Summary::default()];
    let all = || (0..world.flow_count() as u32).filter_map(|i| world.flow(FlowId(i)));
    if !of_network.is_empty() {
        for c in all().map(|f| &f.counters).chain(world.sums().iter().map(|s| &s.counters)) {
            delay.merge(&c.delay);
            match c.transactions.as_deref() {
                Some(times) => foreign.merge(times),
                None => own.merge(&c.rtt),
            }
        }
    }
    let completed = all().filter(|f| f.completed != Time::MAX).count() as u64 + world.sums().iter().map(|s| s.completion.n).sum::<u64>();
    let radios = if world.channels().is_empty() || of_stations.is_empty() {
        Columns::new()
    } else {
        columns(&of_stations, (0..world.ports().len() as u32).map(|i| station_subject(&world, PortId(i), span)))
    };
    let mut limited = vec![(0, f64::NAN); world.ports().len()];
    together(&bottlenecks.at, |own| {
        let x: Vec<f64> = own.iter().map(|&k| goodputs[k as usize]).collect();
        if let Some(place) = limited.get_mut(bottlenecks.at[own[0] as usize] as usize) {
            *place = (own.len() as u64, jain(&x));
        }
    });
    let of_link = |i: usize| (tcp_flows[i], limited[bottlenecks.of(i) as usize]);
    let ports = if of_links.is_empty() { Vec::new() } else { world.into_ports() };
    let mut links = columns_of(&of_links, ports, |i, p| link_subject(p, of_link(i), from, now, span));
    links.extend(radios);
    let total = |table: &Columns, name: &str| table.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, v)| v.iter().sum());
    let (tcp, tcp_at) = (0..reported.len()).filter(|&k| is_tcp[reported[k] as usize]).map(|k| (goodputs[k], bottlenecks.at[k])).unzip();
    let network = NetworkSubject {
        tcp,
        tcp_at,
        at: bottlenecks.at,
        worst_share,
        throughput,
        drops: total(&links, "drops"),
        link_losses: total(&links, "lost"),
        marks: total(&links, "marks"),
        received,
        sent,
        lost,
        retransmits,
        timeouts,
        completed: completed as f64,
        delay,
        foreign,
        own,
        goodputs,
    };
    Measured { flows, groups, links, network: columns(&of_network, std::iter::once(network)) }
}

fn link_subject<Q: Qdisc>(port: Port<Q>, (tcp_flows, limited): (u64, (u64, f64)), from: Time, now: Time, span: f64) -> LinkSubject {
    let c = port.counters().clone();
    let mut waits = c.waits().clone();
    waits.add_zeros(c.sent_pkts - waits.n);
    LinkSubject {
        occupancy: c.occupancy().close(from, now),
        capacity: port.capacity(from, now),
        // Transmissions end at whole picoseconds: rounding may have ended many of them slightly early.
        carried: port.carried(now).min(port.capacity(from, now)),
        span,
        waits,
        tcp_flows,
        limited,
        arrivals: (c.sent_pkts + c.queue_drops()) as f64 + f64::from(port.qdisc().backlog().pkts) - f64::from(c.initial.backlog.pkts),
        c,
    }
}

fn station_subject<P: Components, H: EventQueue>(world: &World<P, H>, port: PortId, span: f64) -> StationSubject {
    let of = |c: &Channel| c.station(port).map(|s| c.air().counted(s, world.now()));
    let given_up = world.port(port).counters().drops[DropReason::Retry as usize] as f64;
    StationSubject { radio: world.channels().iter().find_map(of), given_up, span }
}
