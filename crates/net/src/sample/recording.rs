//! Recorded time series. Samples are recorded as words; columns are made of them when they are read.

use super::chunks::Chunks;
use super::columns::{Fill, FlowSample, PortSample, Sample, value, word};
use fairlane_units::{Dur, Time};

/// Samples that are made into columns at a time.
const BLOCK: usize = 1 << 8;

/// Functions that make columns of samples.
#[derive(Clone, Debug)]
pub(crate) enum Fills {
    Flows(Vec<Fill<FlowSample>>),
    Ports(Vec<Fill<PortSample>>),
}

impl Fills {
    /// Number of columns.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Flows(fill) => fill.len(),
            Self::Ports(fill) => fill.len(),
        }
    }
}

/// A gauge of endpoints or queues.
#[derive(Clone, Debug)]
struct Gauge {
    /// Rows before its first value.
    since: usize,
    values: Chunks,
}

/// A series: one row per subject and sample, instant by instant.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Flows or ports by number, in the order of the rows of an instant.
    pub subjects: Vec<u32>,
    /// Pairs of the number of rows per instant, and the number of consecutive instants with it.
    pub spans: Vec<(usize, usize)>,
    /// Names of the columns: those of [`super::Sampling`], then gauges in the order of their first value.
    pub names: Vec<&'static str>,
    /// Time between two instants, the first of which is at time zero.
    step: Dur,
    fills: Fills,
    /// Words of the samples, column by column.
    words: Vec<Chunks>,
    gauges: Vec<Gauge>,
    /// Rows so far.
    rows: usize,
}

impl Recording {
    pub(crate) fn new(step: Dur, fills: Fills, words: usize, names: Vec<&'static str>, subjects: Vec<u32>) -> Self {
        let words = vec![Chunks::default(); words];
        Self { subjects, spans: Vec::new(), names, step, fills, words, gauges: Vec::new(), rows: 0 }
    }

    /// Number of columns that are made of samples; the others are gauges.
    pub(crate) fn sampled_columns(&self) -> usize {
        self.fills.len()
    }

    /// Adds the sample of the next subject of this instant.
    #[inline]
    pub(crate) fn push<const N: usize>(&mut self, sample: [u64; N]) {
        self.words.iter_mut().zip(sample).for_each(|(column, word)| column.push(word));
    }

    /// Adds a gauge that begins at this instant.
    pub(crate) fn add_gauge(&mut self, name: &'static str) {
        self.names.push(name);
        self.gauges.push(Gauge { since: self.rows, values: Chunks::default() });
    }

    /// Ends an instant with `count` rows and these values of each gauge.
    pub(crate) fn end_instant(&mut self, count: usize, gauges: &[Vec<f64>]) {
        for (gauge, values) in self.gauges.iter_mut().zip(gauges) {
            values.iter().for_each(|v| gauge.values.push(word(*v)));
        }
        self.rows += count;
        match self.spans.last_mut() {
            Some((rows, instants)) if *rows == count => *instants += 1,
            _ => self.spans.push((count, 1)),
        }
    }

    /// Returns the values of a column, NaN where a subject has none; `None` if there is no such column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let at = self.names.iter().position(|n| *n == name)?;
        let instants = self.spans.iter().flat_map(|&(rows, instants)| std::iter::repeat_n(rows, instants));
        let mut out = [Vec::with_capacity(self.rows)];
        self.read(&Cursor::default(), &[at], instants, &mut out);
        let [column] = out;
        Some(column)
    }

    /// Reads the next instants of some columns, by their numbers in `names`: at most `most` rows, but at least one instant. Returns `None` at the end.
    pub fn next(&self, cursor: &mut Cursor, columns: &[usize], most: usize) -> Option<Instants> {
        let begin = cursor.clone();
        let mut rows = Vec::new();
        let mut all = 0;
        while let Some(&(of, instants)) = self.spans.get(cursor.span) {
            let room = most.saturating_sub(all).checked_div(of).map_or(usize::MAX, |n| n.max(usize::from(rows.is_empty())));
            let taken = room.min(instants - cursor.of_span);
            if taken == 0 {
                break;
            }
            rows.resize(rows.len() + taken, of);
            all += taken * of;
            cursor.of_span += taken;
            if cursor.of_span == instants {
                (cursor.span, cursor.of_span) = (cursor.span + 1, 0);
            }
        }
        if rows.is_empty() {
            return None;
        }
        (cursor.instant, cursor.row) = (begin.instant + rows.len(), begin.row + all);
        let mut values: Vec<Vec<f64>> = columns.iter().map(|_| Vec::with_capacity(all)).collect();
        self.read(&begin, columns, rows.iter().copied(), &mut values);
        Some(Instants { rows, columns: values })
    }

    /// Appends the values of instants from `begin` on to `out`; `instants` has the number of rows of each.
    fn read(&self, begin: &Cursor, columns: &[usize], instants: impl Iterator<Item = usize> + Clone, out: &mut [Vec<f64>]) {
        let sampled = self.sampled_columns();
        if columns.iter().any(|&at| at < sampled) {
            match &self.fills {
                Fills::Flows(fill) => self.make(fill, begin, columns, instants.clone(), out),
                Fills::Ports(fill) => self.make(fill, begin, columns, instants.clone(), out),
            }
        }
        let end = begin.row + instants.sum::<usize>();
        for (&at, out) in columns.iter().zip(out) {
            let Some(gauge) = at.checked_sub(sampled).and_then(|at| self.gauges.get(at)) else { continue };
            let first = begin.row.max(gauge.since).min(end);
            out.resize(out.len() + first - begin.row, f64::NAN);
            gauge.values.read(first - gauge.since.min(first)..end - gauge.since.min(end), |w| out.push(value(w)));
        }
    }

    /// [`Self::read`] for columns that are made of samples.
    fn make<S: Sample<N>, const N: usize>(
        &self,
        fill: &[Fill<S>],
        begin: &Cursor,
        columns: &[usize],
        instants: impl Iterator<Item = usize>,
        out: &mut [Vec<f64>],
    ) {
        let step = self.step.as_secs_f64();
        let mut block: Vec<S> = Vec::with_capacity(BLOCK);
        let mut words = [[0; N]; BLOCK];
        let mut add = |block: &mut Vec<S>| {
            for (&at, out) in columns.iter().zip(&mut *out) {
                if let Some(fill) = fill.get(at) {
                    fill(block, out);
                }
            }
            block.clear();
        };
        let mut row = begin.row;
        for (instant, count) in (begin.instant..).zip(instants) {
            let time = (Time::ZERO + self.step * instant as u64).as_secs_f64();
            let end = row + count;
            while row < end {
                let some = BLOCK.min(end - row);
                if block.len() + some > BLOCK {
                    add(&mut block);
                }
                for (k, column) in self.words.iter().enumerate() {
                    let mut of = words.iter_mut();
                    column.read(row..row + some, |word| of.next().into_iter().for_each(|words| words[k] = word));
                }
                block.extend(words[..some].iter().map(|words| S::of(words, time, step)));
                row += some;
            }
        }
        add(&mut block);
    }
}

/// Position in a series that is read.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    span: usize,
    /// Instants read of the span.
    of_span: usize,
    /// Instants and rows read in all.
    instant: usize,
    row: usize,
}

/// Some instants of a series.
#[derive(Clone, Debug)]
pub struct Instants {
    /// Number of rows of each.
    pub rows: Vec<usize>,
    /// Values of each column.
    pub columns: Vec<Vec<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows join and gauges begin during the run; any way of reading gives the same values.
    #[test]
    fn values_come_back() {
        let fill: Fill<FlowSample> = |samples, out| out.extend(samples.iter().map(|s| s.time * 1e3 + s.arrived as f64));
        let mut r = Recording::new(Dur::from_ms(1), Fills::Flows(vec![fill]), 7, vec!["x"], Vec::new());
        let (mut x, mut g) = (Vec::new(), Vec::new());
        for i in 0..1500_u64 {
            let count = 3 + i as usize / 500;
            if i == 700 {
                r.add_gauge("g");
            }
            for k in 0..count as u64 {
                r.push([0, 0, 0, 0, i * k, 0, 0]);
                x.push(((Time::ZERO + Dur::from_ms(1) * i).as_secs_f64() * 1e3 + (i * k) as f64).to_bits());
                g.push(if i < 700 { f64::NAN } else { (i + k) as f64 / 3.0 }.to_bits());
            }
            let values: Vec<f64> = (0..count as u64).map(|k| (i + k) as f64 / 3.0).collect();
            r.end_instant(count, if i < 700 { &[] } else { std::slice::from_ref(&values) });
        }
        let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(r.column("x").unwrap()), x);
        assert_eq!(bits(r.column("g").unwrap()), g);
        assert!(r.column("other").is_none());
        for most in [1, 100, 3000, usize::MAX] {
            let (mut cursor, mut got) = (Cursor::default(), [Vec::new(), Vec::new()]);
            while let Some(some) = r.next(&mut cursor, &[1, 0], most) {
                assert!(some.rows.len() == 1 || some.rows.iter().sum::<usize>() <= most);
                got.iter_mut().zip(some.columns).for_each(|(all, some)| all.extend(bits(some)));
            }
            assert!(got == [g.clone(), x.clone()], "{most}");
        }
    }
}
