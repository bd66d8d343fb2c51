//! Long table as a Parquet file: one row per number or text, with its table, subject, instant and metric.
//!
//! A writer of its own, because ten thousand runs take a tenth of a second each: calling a general library takes longer than writing these rows.

use crate::parquet::{Column, Dictionary, Kind, Rows, write};
use std::collections::HashMap;
use std::io;

/// Rows per page.
const PAGE: usize = 1 << 14;

/// Words in order of first use.
#[derive(Debug, Default)]
struct Words<'a> {
    places: HashMap<&'a str, u32>,
    all: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn place(&mut self, word: &'a str) -> u32 {
        *self.places.entry(word).or_insert_with(|| {
            self.all.push(word);
            self.all.len() as u32 - 1
        })
    }
}

/// Values of a page with gaps.
#[derive(Debug, Default)]
struct Sparse<T> {
    /// One bit per row.
    bits: Vec<u8>,
    values: Vec<T>,
}

impl<T> Sparse<T> {
    fn push(&mut self, row: usize, value: Option<T>) {
        if row.is_multiple_of(8) {
            self.bits.push(0);
        }
        if let (Some(value), Some(byte)) = (value, self.bits.last_mut()) {
            *byte |= 1 << (row % 8);
            self.values.push(value);
        }
    }

    fn rows(&self, rows: usize) -> Rows<'_> {
        Rows { rows, valid: Some((&self.bits, self.values.len())) }
    }

    fn clear(&mut self) {
        self.bits.clear();
        self.values.clear();
    }
}

/// Subjects of a table. Only subjects with a value are written.
#[derive(Debug)]
pub struct Subjects<'a> {
    names: Vec<&'a str>,
    places: Vec<Option<u32>>,
}

impl<'a> Subjects<'a> {
    /// Creates subjects with these names.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        Self { places: vec![None; names.len()], names }
    }
}

/// Rows that the values of a column belong to.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a, 'r> {
    /// Name of the table.
    pub table: &'a str,
    /// Subject of each row by number; `None` if each row is its own subject.
    pub subjects: Option<&'r [u32]>,
    /// Instant of each row, if there are instants.
    pub times: Option<&'r [f64]>,
}

/// A table under construction; all its rows have the same `key`.
#[derive(Debug)]
pub struct LongTable<'a> {
    columns: [Column; 7],
    key: &'a str,
    tables: Words<'a>,
    names: Words<'a>,
    metrics: Words<'a>,
    texts: Words<'a>,
    /// Current page: for each row its indices in the first three lists, then optional values.
    page: [Vec<u32>; 3],
    time: Sparse<i64>,
    value: Sparse<i64>,
    text: Sparse<u32>,
}

impl<'a> LongTable<'a> {
    /// Creates an empty table.
    pub fn new(key: &'a str) -> Self {
        let columns = [
            Column::new("key", Kind::Text, false),
            Column::new("table", Kind::Text, false),
            Column::new("name", Kind::Text, false),
            Column::new("time", Kind::Double, true),
            Column::new("metric", Kind::Text, false),
            Column::new("value", Kind::Double, true),
            Column::new("text", Kind::Text, true),
        ];
        Self {
            columns,
            key,
            tables: Words::default(),
            names: Words::default(),
            metrics: Words::default(),
            texts: Words::default(),
            page: Default::default(),
            time: Sparse::default(),
            value: Sparse::default(),
            text: Sparse::default(),
        }
    }

    /// Adds the values of a metric, without NaN and without subjects that `keep` rejects.
    pub fn numbers(&mut self, of: Of<'a, '_>, subjects: &mut Subjects<'a>, metric: &'a str, values: &[f64], keep: impl Fn(&str) -> bool) {
        for (i, &value) in values.iter().enumerate() {
            let subject = of.subjects.map_or(Some(i), |s| s.get(i).map(|&n| n as usize));
            let Some((&name, place)) = subject.and_then(|s| Some((subjects.names.get(s)?, subjects.places.get_mut(s)?))) else { continue };
            if !value.is_nan() && keep(name) {
                let name = *place.get_or_insert_with(|| self.names.place(name));
                let row = [self.tables.place(of.table), name, self.metrics.place(metric)];
                let time = of.times.and_then(|t| t.get(i)).filter(|t| !t.is_nan());
                self.row(row, time.copied(), Some(value), None);
            }
        }
    }

    /// Adds a text of a table without subjects.
    pub fn text(&mut self, table: &'a str, metric: &'a str, text: &'a str) {
        let row = [self.tables.place(table), self.names.place(""), self.metrics.place(metric)];
        let text = self.texts.place(text);
        self.row(row, None, None, Some(text));
    }

    fn row(&mut self, places: [u32; 3], time: Option<f64>, value: Option<f64>, text: Option<u32>) {
        let row = self.page[0].len();
        for (page, place) in self.page.iter_mut().zip(places) {
            page.push(place);
        }
        self.time.push(row, time.map(|x| x.to_bits() as i64));
        self.value.push(row, value.map(|x| x.to_bits() as i64));
        self.text.push(row, text);
        if row + 1 == PAGE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let rows = self.page[0].len();
        if rows == 0 {
            return;
        }
        let all = Rows { rows, valid: None };
        let [key, table, name, time, metric, value, text] = &mut self.columns;
        key.places(all, &vec![0; rows]);
        for (column, places) in [table, name, metric].into_iter().zip(&mut self.page) {
            column.places(all, places);
            places.clear();
        }
        time.doubles(self.time.rows(rows), &self.time.values);
        value.doubles(self.value.rows(rows), &self.value.values);
        text.places(self.text.rows(rows), &self.text.values);
        self.time.clear();
        self.value.clear();
        self.text.clear();
    }

    /// Returns the file.
    ///
    /// # Errors
    /// Memory for the compression of a page is missing.
    pub fn end(mut self) -> io::Result<Vec<u8>> {
        self.flush();
        let mut out = Vec::new();
        let words = |w: Words<'a>| Dictionary::Texts(w.all);
        let dictionaries = [
            Dictionary::Texts(vec![self.key]),
            words(self.tables),
            words(self.names),
            Dictionary::None,
            words(self.metrics),
            Dictionary::None,
            words(self.texts),
        ];
        write(&mut out, &mut self.columns, &dictionaries)?;
        Ok(out)
    }
}
