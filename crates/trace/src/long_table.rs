//! A long table as a Parquet file: numbers and texts below one another, each with the table, the subject, the instant and the metric that it is of.
//!
//! Written here, as a run is a tenth of a second where there are ten thousand of them: a library for any table takes longer to be called than these rows to be written.

use crate::parquet::{Column, Dictionary, Kind, Rows, write};
use std::collections::HashMap;
use std::io;

/// Rows of a page.
const PAGE: usize = 1 << 14;

/// Words by the order of their first use.
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

/// Values of a page of which not every row has one.
#[derive(Debug, Default)]
struct Sparse<T> {
    /// A bit a row.
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

/// What the rows of a table are of. Only those that have a value come into the file.
#[derive(Debug)]
pub struct Subjects<'a> {
    names: Vec<&'a str>,
    places: Vec<Option<u32>>,
}

impl<'a> Subjects<'a> {
    /// These.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        Self { places: vec![None; names.len()], names }
    }
}

/// Which rows the values of a column are of.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a, 'r> {
    /// Their table.
    pub table: &'a str,
    /// The subject of each by its number; `None`: each has one of its own.
    pub subjects: Option<&'r [u32]>,
    /// The instant of each, if they have one.
    pub times: Option<&'r [f64]>,
}

/// A table that is being made; all its rows are of one `key`.
#[derive(Debug)]
pub struct LongTable<'a> {
    columns: [Column; 7],
    key: &'a str,
    tables: Words<'a>,
    names: Words<'a>,
    metrics: Words<'a>,
    texts: Words<'a>,
    /// The page that is being filled: for each row its places in the first three lists, then what it may have.
    page: [Vec<u32>; 3],
    time: Sparse<i64>,
    value: Sparse<i64>,
    text: Sparse<u32>,
}

impl<'a> LongTable<'a> {
    /// An empty one.
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

    /// A metric's values; rows that are no number, and those of which `keep` does not want the subject, are left out.
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

    /// A text of a table without subjects.
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

    /// The file.
    ///
    /// # Errors
    /// There is no memory to compress a page.
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
