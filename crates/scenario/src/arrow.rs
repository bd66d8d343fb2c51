//! Tables of runs as Arrow streams.

use crate::output::Table;
use fairlane_trace::{ArrowStream, ArrowValues};

/// Returns the rows of one table of several runs of a scenario, run by run, with the seed of each in front. `key` names the column of names.
pub fn arrow_table<'a>(runs: &[(u64, &'a Table)], key: &'a str) -> ArrowStream<'a> {
    let seeds = runs.iter().map(|(seed, table)| (*seed, table.rows())).collect();
    let mut columns = vec![("seed", ArrowValues::Whole(seeds))];
    if let Some((_, first)) = runs.first() {
        columns.extend(first.text.iter().enumerate().map(|(i, (name, _))| {
            let own = runs.iter().filter_map(|(_, table)| table.text.get(i)).flat_map(|(_, texts)| texts);
            (if *name == "name" { key } else { *name }, ArrowValues::Text(own.map(|t| t.as_str()).collect()))
        }));
        columns.extend(first.numbers.iter().enumerate().map(|(i, (name, _))| {
            let own = runs.iter().filter_map(|(_, table)| table.numbers.get(i));
            (*name, ArrowValues::Numbers(own.map(|(_, values)| values.as_slice()).collect()))
        }));
    }
    ArrowStream::new(columns, runs.iter().map(|(_, table)| table.rows()).sum())
}
