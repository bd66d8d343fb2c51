//! Event rows of imported captures.

use super::output::Form;
use super::table::Parts;
use super::{Kind, NONE, Names, ROWS, Row};
use fairlane_net::Ecn;
use fairlane_units::Time;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

/// A packet at the capture point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CapturedPacket {
    pub(crate) time_ps: u64,
    pub(crate) packet: u64,
    pub(crate) flow: u32,
    pub(crate) back: bool,
    pub(crate) length: u32,
    pub(crate) ecn: u8,
    pub(crate) seq: u64,
    pub(crate) ack: u64,
    pub(crate) payload: u32,
    pub(crate) flags: u8,
    /// True for retransmitted data.
    pub(crate) again: bool,
}

/// A table of imported packets.
pub(crate) struct Import {
    parts: Parts,
    names: Arc<Names>,
    rows: Vec<Row>,
}

impl Import {
    pub(crate) fn new(folder: PathBuf, flows: Vec<String>) -> io::Result<Self> {
        let names = Arc::new(Names { flows, ..Names::default() });
        Ok(Self { parts: Parts::new(folder, names.clone())?, names, rows: Vec::with_capacity(ROWS + 1) })
    }

    fn put(&mut self, row: Row) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() >= ROWS {
            self.parts.take(&self.rows)?;
            self.rows.clear();
        }
        Ok(())
    }

    /// Adds a packet, which is sent and received at the capture point.
    pub(crate) fn packet(&mut self, t: &CapturedPacket) -> io::Result<()> {
        let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(t.ecn & 3)];
        let row = Row {
            time: Time::from_ps(t.time_ps),
            packet: t.packet,
            flow: t.flow,
            link: NONE,
            length: t.length,
            field: Row::field(ecn, t.back),
            seq: t.seq,
            ack: t.ack,
            payload: t.payload,
            flags: t.flags,
            ..Row::default()
        };
        self.put(Row { kind: if t.again { Kind::Retransmit } else { Kind::Send }, ..row })?;
        self.put(Row { kind: Kind::Receive, ..row })
    }

    /// Adds a gauge of the packet's flow at that instant.
    pub(crate) fn gauge(&mut self, t: &CapturedPacket, name: &'static str, value: f64) -> io::Result<()> {
        let mut gauges = self.names.gauges.lock().unwrap_or_else(PoisonError::into_inner);
        let number = gauges.iter().position(|n| *n == name).unwrap_or(gauges.len());
        if number == gauges.len() {
            gauges.push(name);
        }
        drop(gauges);
        let (time, flow, detail, seq) = (Time::from_ps(t.time_ps), t.flow, number as u8, value.to_bits());
        self.put(Row { kind: Kind::Gauge, time, flow, link: NONE, seq, detail, ..Row::default() })
    }

    /// Writes the remaining rows.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.parts.take(&self.rows)?;
        self.parts.end()
    }
}
