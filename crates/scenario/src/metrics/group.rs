//! Groups of flows: one row per group, from summed counters and merged histograms.

use super::{Columns, FLOW_METRICS, FlowSubject, GROUP_METRICS, fairness, secs};
use fairlane_net::{FlowSum, Summary};
use fairlane_units::Dur;

/// Rule that turns a metric of flows into one of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooled {
    /// Sum over the flows.
    Sum,
    /// The flow's formula over all packets, acknowledgments and transactions of the group.
    All,
    /// Mean over the flows that have a value.
    Mean,
    /// None: the metric is the state of a single flow.
    Null,
}

impl Pooled {
    /// Text for documentation and listings.
    pub fn text(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::All => "all",
            Self::Mean => "mean",
            Self::Null => "null",
        }
    }
}

/// All flows of a group at the end of a run.
#[derive(Default)]
pub struct GroupSubject {
    all: FlowSubject,
    /// Goodput of each flow.
    goodputs: Vec<f64>,
    /// Bottleneck of each flow.
    at: Vec<u32>,
    completion: Summary,
}

impl GroupSubject {
    /// Adds a flow with this goodput and bottleneck.
    pub(super) fn add(&mut self, flow: &FlowSubject, goodput: f64, at: u32) {
        self.all.absorb(flow);
        self.goodputs.push(goodput);
        self.at.push(at);
        if flow.lasted.1 > 0 {
            self.completion.add(flow.lasted.0 as u64);
        }
    }
    /// Adds a flow that has ended, without the counters that [`Self::add_sum`] adds for all of them.
    pub(super) fn add_ended(&mut self, arrived: u64, goodput: f64, fair: f64, share: f64, at: u32) {
        self.all.flows += 1.0;
        self.all.arrived += arrived;
        (self.all.fair, self.all.shares) = (self.all.fair + fair, self.all.shares + share);
        self.goodputs.push(goodput);
        self.at.push(at);
    }
    /// Adds the counters of flows that have ended.
    pub(super) fn add_sum(&mut self, sum: &FlowSum, span: f64) {
        // A group without a flow has no rate, not one of zero.
        if self.goodputs.is_empty() {
            return;
        }
        self.all.absorb(&FlowSubject { arrived: 0, ..FlowSubject::of_sum(sum, span) });
        self.completion.merge(&sum.completion);
    }
    pub(super) fn flows(&self) -> f64 {
        self.goodputs.len() as f64
    }
    pub(super) fn completed(&self) -> f64 {
        self.completion.n as f64
    }
    pub(super) fn goodput_mean(&self) -> f64 {
        self.goodputs.iter().sum::<f64>() / self.flows()
    }
    pub(super) fn goodput_least(&self) -> f64 {
        self.goodputs.iter().copied().fold(f64::NAN, f64::min)
    }
    pub(super) fn goodput_most(&self) -> f64 {
        self.goodputs.iter().copied().fold(f64::NAN, f64::max)
    }
    pub(super) fn jain(&self) -> f64 {
        fairness(&self.goodputs, &self.at)
    }
    pub(super) fn completion(&self, q: f64) -> f64 {
        secs(self.completion.quantile(q))
    }
}

impl FlowSubject {
    /// Counters of flows that have ended.
    pub(super) fn of_sum(sum: &FlowSum, span: f64) -> Self {
        let lasted = (sum.lasted, sum.completion.n);
        Self { counters: sum.counters.clone(), view: sum.view, base: sum.base, lasted, span, ..Self::default() }
    }

    /// Adds a flow. Shared values stay; the state of a single flow becomes meaningless.
    fn absorb(&mut self, flow: &Self) {
        self.flows += flow.flows;
        self.counters.merge(&flow.counters);
        (self.view, self.base) = (flow.view.after(&self.view), flow.base.after(&self.base));
        self.arrived += flow.arrived;
        self.span = flow.span;
        (self.fair, self.shares) = (self.fair + flow.fair, self.shares + flow.shares);
        let ((mean, n), (own, m)) = (self.after_first, flow.after_first);
        if m > 0 {
            self.after_first = ((mean * n as f64 + own * m as f64) / (n + m) as f64, n + m);
        }
        self.lasted = (self.lasted.0 + flow.lasted.0, self.lasted.1 + flow.lasted.1);
        if let Some((open, turns)) = flow.opened {
            let (before, times) = self.opened.unwrap_or((Dur::ZERO, 0));
            self.opened = Some((before + open, times + turns));
        }
        self.voice.add(&flow.voice);
        self.video.add(&flow.video);
    }
}

/// One row per group, also for groups without flows.
pub(super) fn rows(groups: &[GroupSubject]) -> Columns {
    let own = GROUP_METRICS.iter().map(|m| (m.name, groups.iter().map(m.value).collect()));
    let pooled = FLOW_METRICS.iter().map(|m| {
        let value = |g: &GroupSubject| match m.pooled {
            Some(Pooled::Null) => f64::NAN,
            _ => (m.value)(&g.all),
        };
        (m.name, groups.iter().map(value).collect())
    });
    own.chain(pooled).collect()
}
