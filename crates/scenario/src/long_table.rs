//! All numbers of a run as one long table, as studies store it.

use crate::output::{RunOutput, Table};
use crate::series_table::SeriesTable;
use fairlane_trace::{LongTable, Of, Subjects};
use std::collections::HashSet;
use std::io;

/// Table of facts about the run itself.
const RUN: &str = "run";
/// Time column of a series, which is not a metric.
const TIME: &str = "time";

/// A table, one of its metrics, and the names of the wanted rows.
pub type Wanted = (String, String, Vec<String>);

/// Writes the long table of a run as a Parquet file, with `key` in each row and `engine` in one. `wanted` selects metrics and rows; none selects all.
///
/// # Errors
/// A stored series cannot be read.
pub fn long_table(run: &RunOutput, key: &str, engine: &str, wanted: Option<&[Wanted]>) -> io::Result<Vec<u8>> {
    let fingerprint = format!("{:016x}", run.fingerprint);
    let mut out = Tables { long: LongTable::new(key), wanted };
    let facts = [("seed", run.seed), ("events", run.events), ("packet_hops", run.packet_hops), ("peak_packets", run.peak_packets as u64)];
    let (of, mut itself) = (Of { table: RUN, subjects: None, times: None }, Subjects::new([""]));
    for (metric, value) in facts {
        out.long.numbers(of, &mut itself, metric, &[value as f64], |_| true);
    }
    out.long.text(RUN, "fingerprint", &fingerprint);
    out.long.text(RUN, "engine", engine);
    for warning in &run.warnings {
        out.long.text(RUN, "warning", &warning.text);
    }
    for (name, table) in [("flows", &run.flows), ("groups", &run.groups), ("links", &run.links), ("network", &run.network)] {
        out.table(name, table);
    }
    for (name, series) in [("flow_series", &run.flow_series), ("link_series", &run.link_series)] {
        if let Some(series) = series {
            out.series(name, series);
        }
    }
    out.long.end()
}

struct Tables<'a> {
    long: LongTable<'a>,
    wanted: Option<&'a [Wanted]>,
}

impl<'a> Tables<'a> {
    fn table(&mut self, name: &'static str, table: &'a Table) {
        let named = table.text.iter().find(|(column, _)| *column == "name").map(|(_, names)| names);
        // The network table has no names and one row.
        let mut subjects = named.map_or_else(|| Subjects::new([""]), |names| Subjects::new(names.iter().map(|n| n.as_str())));
        for (metric, values) in &table.numbers {
            self.column(Of { table: name, subjects: None, times: None }, &mut subjects, metric, values);
        }
    }

    fn series(&mut self, name: &'static str, series: &'a SeriesTable) {
        if !series.names().iter().any(|metric| *metric != TIME && self.wants(name, metric)) {
            return;
        }
        let mut subjects = Subjects::new(series.subjects.iter().map(|s| s.as_str()));
        let instants = series.spans.iter().flat_map(|&(count, instants)| std::iter::repeat_n(0..count as u32, instants));
        let (each, times): (Vec<u32>, _) = (instants.flatten().collect(), series.column(TIME));
        let of = Of { table: name, subjects: Some(&each), times: times.as_deref() };
        for metric in series.names().iter().filter(|metric| **metric != TIME) {
            if self.wants(name, metric)
                && let Some(values) = series.column(metric)
            {
                self.column(of, &mut subjects, metric, &values);
            }
        }
    }

    fn wants(&self, table: &str, metric: &str) -> bool {
        self.wanted.is_none_or(|all| all.iter().any(|(t, m, _)| t == table && m == metric))
    }

    fn column(&mut self, of: Of<'a, '_>, subjects: &mut Subjects<'a>, metric: &'a str, values: &[f64]) {
        let Some(wanted) = self.wanted else { return self.long.numbers(of, subjects, metric, values, |_| true) };
        if self.wants(of.table, metric) {
            let names = wanted.iter().filter(|(t, m, _)| t == of.table && m == metric).flat_map(|(_, _, names)| names);
            let own: HashSet<&str> = names.map(String::as_str).collect();
            self.long.numbers(of, subjects, metric, values, |name| own.contains(name));
        }
    }
}
