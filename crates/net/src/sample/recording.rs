//! A series that was recorded, as columns. What rows are made of is recorded; a column is worked out when it is read.

use super::columns::{Fill, FlowSample, PortSample, Sample};
use super::shelf::{Reading, RowReading, Shelf};
use fairlane_units::{Dur, Time};
use std::io;

/// Rows that become numbers together.
const BLOCK: usize = 1 << 8;

/// How columns come out of what was recorded.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    Flows(Vec<Fill<FlowSample>>),
    Ports(Vec<Fill<PortSample>>),
}

impl Made {
    /// How many columns.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Flows(fill) => fill.len(),
            Self::Ports(fill) => fill.len(),
        }
    }
}

/// A series: one row a subject and sample, instant by instant.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Flows or ports by number, in the order in which each instant has them.
    pub subjects: Vec<u32>,
    /// How many of them an instant had, and how many instants in a row that was so.
    pub spans: Vec<(usize, usize)>,
    /// Names of the columns: those asked for, then the gauges of endpoints and queues that have some, in the order of their first value.
    pub names: Vec<&'static str>,
    /// Time between two instants, the first of which is the beginning.
    step: Dur,
    made: Made,
    pub(crate) shelf: Shelf,
}

impl Recording {
    pub(crate) fn new(step: Dur, made: Made, names: Vec<&'static str>, subjects: Vec<u32>) -> Self {
        Self { subjects, spans: Vec::new(), names, step, made, shelf: Shelf::default() }
    }

    /// How many columns are made of rows. The others are gauges.
    pub(crate) fn asked(&self) -> usize {
        self.made.len()
    }

    /// A gauge that nobody had before.
    pub(crate) fn add(&mut self, name: &'static str) {
        self.names.push(name);
        self.shelf.add();
    }

    /// The values of a column; NaN where a subject has none of that name. `None` if there is no such column.
    ///
    /// # Errors
    /// The temporary file that holds it cannot be read.
    pub fn column(&self, name: &str) -> Option<io::Result<Vec<f64>>> {
        let at = self.names.iter().position(|n| *n == name)?;
        let instants = self.spans.iter().flat_map(|&(rows, instants)| std::iter::repeat_n(rows, instants));
        let mut out = [Vec::with_capacity(self.spans.iter().map(|(rows, n)| rows * n).sum())];
        let read = self.read(&mut Place::of(1), &[at], instants, &mut out);
        let [column] = out;
        Some(read.map(|()| column))
    }

    /// The next instants of some columns, of which `place` is the same from call to call; no more than `most` rows, but one instant at
    /// least. `None` at the end.
    ///
    /// # Errors
    /// As `column`; or there is no such column.
    pub fn next(&self, place: &mut Place, columns: &[usize], most: usize) -> io::Result<Option<Stretch>> {
        place.gauges.resize_with(columns.len(), Reading::default);
        let mut rows = Vec::new();
        let mut all = 0;
        while let Some(&(of, instants)) = self.spans.get(place.span) {
            let room = most.saturating_sub(all).checked_div(of).map_or(usize::MAX, |n| n.max(usize::from(rows.is_empty())));
            let taken = room.min(instants - place.instant);
            if taken == 0 {
                break;
            }
            rows.resize(rows.len() + taken, of);
            all += taken * of;
            place.instant += taken;
            if place.instant == instants {
                (place.span, place.instant) = (place.span + 1, 0);
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let mut values: Vec<Vec<f64>> = columns.iter().map(|_| Vec::with_capacity(all)).collect();
        self.read(place, columns, rows.iter().copied(), &mut values)?;
        Ok(Some(Stretch { rows, columns: values }))
    }

    /// Adds the numbers of the next instants, which have so many rows each, to columns.
    fn read(
        &self,
        place: &mut Place,
        columns: &[usize],
        instants: impl Iterator<Item = usize> + Clone,
        out: &mut [Vec<f64>],
    ) -> io::Result<()> {
        let asked = self.asked();
        if columns.iter().any(|&at| at < asked) {
            match &self.made {
                Made::Flows(fill) => self.make(fill, &mut place.rows, columns, instants.clone(), out)?,
                Made::Ports(fill) => self.make(fill, &mut place.rows, columns, instants.clone(), out)?,
            }
        }
        for ((&at, reading), out) in columns.iter().zip(&mut place.gauges).zip(out).filter(|((at, _), _)| **at >= asked) {
            self.shelf.read(at - asked, reading, instants.clone(), out)?;
        }
        Ok(())
    }

    /// The same of those that are made of rows.
    fn make<S: Sample<N>, const N: usize>(
        &self,
        fill: &[Fill<S>],
        rows: &mut RowReading,
        columns: &[usize],
        instants: impl Iterator<Item = usize>,
        out: &mut [Vec<f64>],
    ) -> io::Result<()> {
        let step = self.step.as_secs_f64();
        let mut block: Vec<S> = Vec::with_capacity(BLOCK);
        let mut add = |block: &mut Vec<S>| {
            for (&at, out) in columns.iter().zip(&mut *out) {
                if let Some(fill) = fill.get(at) {
                    fill(block, out);
                }
            }
            block.clear();
        };
        for count in instants {
            let time = (Time::ZERO + self.step * rows.instants() as u64).as_secs_f64();
            for some in self.shelf.instant::<N>(rows, count)?.chunks(BLOCK) {
                if block.len() + some.len() > BLOCK {
                    add(&mut block);
                }
                block.extend(some.iter().map(|words| S::of(words, time, step)));
            }
        }
        add(&mut block);
        Ok(())
    }
}

/// How far a series has been read.
#[derive(Clone, Debug, Default)]
pub struct Place {
    span: usize,
    /// Of the span.
    instant: usize,
    rows: RowReading,
    /// Of each column, if it is a gauge.
    gauges: Vec<Reading>,
}

impl Place {
    /// The beginning, for so many columns.
    fn of(columns: usize) -> Self {
        Self { gauges: vec![Reading::default(); columns], ..Self::default() }
    }
}

/// Some instants of a series.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// How many rows each has.
    pub rows: Vec<usize>,
    /// The values of each column.
    pub columns: Vec<Vec<f64>>,
}
