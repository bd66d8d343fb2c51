//! Starts and stops of flows that changes have scheduled.

use fairlane_engine::steps::log_step;
use fairlane_net::FlowId;
use fairlane_units::Time;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A start or stop of a flow that a change schedules; a later change of the same flow replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Time; `MAX` cancels the scheduled task.
    pub(crate) time: Time,
    pub(crate) flow: FlowId,
    /// True if the flow restarts, false if it stops.
    pub(crate) begins: bool,
}

/// Tasks in the order of time, at most one for each flow; those of one time keep the order in which they were scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    by_time: BTreeMap<(Time, u64), Task>,
    places: FxHashMap<FlowId, (Time, u64)>,
    scheduled: u64,
}

impl Tasks {
    /// Schedules a task instead of the one that the flow has.
    pub(crate) fn schedule(&mut self, task: Task) {
        log_step(self.by_time.len());
        if let Some(old) = self.places.remove(&task.flow) {
            self.by_time.remove(&old);
        }
        if task.time < Time::MAX {
            let place = (task.time, self.scheduled);
            self.scheduled += 1;
            self.by_time.insert(place, task);
            self.places.insert(task.flow, place);
        }
    }

    /// Time of the next task; `MAX` if there is none.
    pub(crate) fn next(&self) -> Time {
        self.by_time.first_key_value().map_or(Time::MAX, |(place, _)| place.0)
    }

    /// Takes the next task if it is due.
    pub(crate) fn due(&mut self, now: Time) -> Option<Task> {
        if self.next() > now {
            return None;
        }
        log_step(self.by_time.len());
        let (_, task) = self.by_time.pop_first()?;
        self.places.remove(&task.flow);
        Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairlane_testkit::growth::assert_logarithmic;
    use fairlane_units::Dur;

    fn task(us: u64, flow: u32, begins: bool) -> Task {
        Task { time: Time::ZERO + Dur::from_us(us), flow: FlowId(flow), begins }
    }

    #[test]
    fn a_flow_has_its_newest_task_and_tasks_of_one_time_keep_their_order() {
        let mut tasks = Tasks::default();
        for t in [task(5, 1, true), task(3, 2, false), task(3, 3, true), task(4, 1, false), task(3, 0, true)] {
            tasks.schedule(t);
        }
        tasks.schedule(Task { time: Time::MAX, ..task(0, 3, true) });
        assert_eq!(tasks.next(), task(3, 0, true).time);
        assert_eq!(tasks.due(task(2, 0, true).time), None);
        let all: Vec<Task> = std::iter::from_fn(|| tasks.due(task(9, 0, true).time)).collect();
        assert_eq!(all, [task(3, 2, false), task(3, 0, true), task(4, 1, false)]);
        assert_eq!(tasks.next(), Time::MAX);
    }

    #[test]
    fn tasks_do_not_grow_with_flows() {
        assert_logarithmic("tasks of flows", 500, |n| {
            let mut tasks = Tasks::default();
            for round in 0..2 {
                (0..n as u32).for_each(|flow| tasks.schedule(task(u64::from(flow) + round, flow, true)));
            }
            std::iter::from_fn(|| tasks.due(Time::MAX)).count()
        });
    }
}
