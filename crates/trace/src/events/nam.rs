//! Rows of links in the file format of nam, ns-2's animator.
//!
//! Source: nam(1), "Trace file format", and the files that ns-2.35 writes with `namtrace-all`. A network with the preset `ns2` gives the same lines as
//! ns-2 (tests/test_nam.py), except for labels with the names of nodes.

use super::ns2::TraceLine;
use super::{Names, Row};
use std::io::Write;

/// Header of the file: nodes, links with rate and delay, queues, names.
pub(super) fn head(names: &Names) -> Vec<u8> {
    let mut out = b"V -t * -v 1.0a5 -a 0\nA -t * -n 1 -p 0 -o 0x7fffffff -c 30 -a 1\nA -t * -h 1 -m 1073741823 -s 0\n".to_vec();
    // Writing into memory cannot fail.
    for node in 0..names.nodes.len() {
        let _ = writeln!(out, "n -t * -a {node} -s {node} -S UP -v circle -c black -i black");
    }
    let mut drawn = std::collections::BTreeSet::new();
    for wire in &names.wires {
        // One line per pair of nodes for both directions.
        if drawn.insert((wire.from.min(wire.to), wire.from.max(wire.to))) {
            let _ = writeln!(out, "l -t * -s {} -d {} -S UP -r {} -D {} -c black", wire.from, wire.to, wire.rate, Seconds(wire.delay_ps));
        }
    }
    for wire in &names.wires {
        let _ = writeln!(out, "q -t * -s {} -d {} -a 0.5", wire.from, wire.to);
    }
    for (node, name) in names.nodes.iter().enumerate() {
        let _ = writeln!(out, "n -t 0 -s {node} -S DLABEL -l \"{}\" -L \"\"", plain(name));
    }
    out
}

/// Sanitised name: nam is a Tcl program that interprets brackets, dollars and quotes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-+:".contains(c) { c } else { '_' }).collect()
}

struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:012}", self.0 / 1_000_000_000_000, self.0 % 1_000_000_000_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Writes the lines of an event, if nam has any: a packet that leaves a queue also enters the link.
pub(super) fn line(out: &mut Vec<u8>, names: &Names, row: &Row) {
    let Some(line) = TraceLine::of(names, row) else { return };
    event(out, &line, row, line.letter, i128::from(line.number));
    if line.letter == '-' {
        event(out, &line, row, 'h', -1);
    }
}

fn event(out: &mut Vec<u8>, line: &TraceLine, row: &Row, letter: char, number: i128) {
    let TraceLine { wire: (from, to), kind, source, sink, .. } = line;
    let _ = writeln!(
        out,
        "{letter} -t {} -s {from} -d {to} -p {kind} -e {} -c {flow} -i {} -a {flow} -x {{{}.{} {}.{} {number} {} null}}",
        Seconds(row.time.as_ps()),
        row.length,
        row.packet - 1,
        source.0,
        source.1,
        sink.0,
        sink.1,
        super::ns2::flags(row),
        flow = row.flow,
    );
}
