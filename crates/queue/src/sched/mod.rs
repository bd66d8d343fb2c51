//! Schedulers: who stores packets and says which leaves next.

/// Methods of `Qdisc` that the queue, or the bank of queues, in a field answers for the whole scheduler.
macro_rules! answered_by {
    ($field:ident: $($method:ident),+) => { $(answered_by! { @$method $field })+ };
    (@backlog $field:ident) => {
        fn backlog(&self) -> fairlane_net::Backlog {
            self.$field.backlog()
        }
    };
    (@ready_at $field:ident) => {
        fn ready_at(&self) -> Option<fairlane_units::Time> {
            self.$field.ready_at()
        }
    };
    (@has_timer $field:ident) => {
        fn has_timer(&self) -> bool {
            self.$field.has_timer()
        }
    };
    (@headers $field:ident) => {
        fn reads_headers(&self) -> bool {
            self.$field.reads_headers()
        }
        fn on_header(&mut self, header: &fairlane_net::Segment) {
            self.$field.on_header(header);
        }
    };
    (@gauges $field:ident) => {
        fn gauges(&self, out: &mut dyn FnMut(&'static str, f64)) {
            self.$field.gauges(out);
        }
    };
    (@clamps $field:ident) => {
        fn window_clamp(&self, flow: fairlane_net::FlowId) -> Option<u32> {
            self.$field.window_clamp(flow)
        }
        fn clamps(&self) -> bool {
            self.$field.clamps()
        }
    };
}

pub(crate) mod bank;
mod bits;
pub(crate) mod bucket;
pub(crate) mod cake;
pub(crate) mod drr;
pub(crate) mod dualpi2;
pub(crate) mod fifo;
mod flow_queues;
pub(crate) mod fq;
pub(crate) mod fq_codel;
pub(crate) mod fq_law;
pub(crate) mod fq_pie;
mod hash;
mod heap;
pub(crate) mod hfsc;
pub(crate) mod htb;
mod ledger;
pub(crate) mod link_layer;
mod lists;
pub(crate) mod mark;
pub(crate) mod prio;
mod room;
mod rounds;
pub(crate) mod sfq;
pub(crate) mod tbf;
#[cfg(test)]
pub(crate) mod testing;
mod tree;
pub(crate) mod waiting;
pub(crate) mod wf2q;
pub(crate) mod wfq;
pub(crate) mod wrr;

pub use hash::HashBy;
pub use rounds::DropFrom;

/// Checks that several schedulers share.
pub(crate) mod check {
    use crate::discipline::Problem;
    use fairlane_units::Len;

    /// Refuses a limit that lets nothing through.
    pub(crate) fn holds(field: &str, limit: Option<Len>) -> Result<(), Problem> {
        match limit {
            Some(none @ (Len::Packets(0) | Len::Bytes(0))) => {
                Err(Problem::new(field, format!("{none} holds nothing: write at least \"1p\"")))
            }
            _ => Ok(()),
        }
    }
    /// Refuses zero.
    pub(crate) fn some(field: &str, n: u64) -> Result<(), Problem> {
        if n == 0 { Err(Problem::new(field, "must be more than nothing")) } else { Ok(()) }
    }
}
