//! Remarks about packets of a capture that are in no flow, or not as they should be.

use super::{FLOWS, First, Flows};
use crate::capture_file::unsupported;

fn many(n: u64) -> String {
    if n == 1 { "1 packet is".to_owned() } else { format!("{n} packets are") }
}

pub(super) fn remarks(flows: &Flows, first: &First) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(cut) = &first.cut {
        out.push(format!("the file is damaged: {cut}; the part before is imported"));
    }
    if first.early > 0 {
        out.push(format!("{} left out: no time in the file (simple packet blocks); capture with times", many(first.early)));
    }
    if first.timeless > first.early {
        out.push(format!(
            "{} without a time (simple packet blocks): each has that of the packet before",
            many(first.timeless - first.early)
        ));
    }
    for (n, why) in [
        (flows.damaged, "truncated headers, or damaged"),
        (flows.protected, "802.11 encrypts their contents; decrypt the capture first, for example with airdecap-ng"),
        (flows.repeated, "repetitions of the 802.11 MAC, not of TCP; tshark counts the same with -o wlan.retransmitted:FALSE"),
        (flows.other, "neither TCP nor UDP over IP"),
        (flows.more, &format!("more than {FLOWS} flows")),
    ] {
        if n > 0 {
            out.push(format!("{} left out: {why}", many(n)));
        }
    }
    for (&link_type, &n) in &flows.unknown {
        out.push(format!("{} left out: {}", many(n), unsupported(link_type)));
    }
    if first.backward > 0 {
        out.push(format!("{} earlier than the previous one; the order of the file is kept", many(first.backward)));
    }
    out
}
