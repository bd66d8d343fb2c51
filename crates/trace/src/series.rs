//! Time series as one Parquet file, written by row groups: one row per instant and flow or link, after the seed of its run.

use crate::parquet::{Column, Dictionary, Kind, Rows, Writer};
use fairlane_units::Name;
use std::io::{self, Write};

/// Rows per page.
const PAGE: usize = 1 << 14;

/// Writer of a file.
pub struct SeriesFile<W> {
    file: Writer<W>,
    columns: Vec<Column>,
    /// Bits of the values of a page.
    bits: Vec<i64>,
}

impl<W: Write> SeriesFile<W> {
    /// Creates a file with the columns `seed`, `key`, which names a row's subject, and `names`.
    ///
    /// # Errors
    /// Writing fails.
    pub fn new(out: W, key: &'static str, names: &[&'static str]) -> io::Result<Self> {
        let labels = [Column::new("seed", Kind::Unsigned, false), Column::new(key, Kind::Text, false)];
        let columns = labels.into_iter().chain(names.iter().map(|name| Column::new(name, Kind::Double, false))).collect();
        Ok(Self { file: Writer::new(out)?, columns, bits: Vec::new() })
    }

    /// Writes a row group: the subject of each row, an index into `subjects`, and its values column by column.
    ///
    /// # Errors
    /// Writing fails.
    pub fn group(&mut self, seed: u64, subjects: &[Name], rows: &[u32], values: &[Vec<f64>]) -> io::Result<()> {
        let [seeds, key, columns @ ..] = self.columns.as_mut_slice() else { return Ok(()) };
        for page in rows.chunks(PAGE) {
            let all = Rows { rows: page.len(), valid: None };
            self.bits.clear();
            self.bits.resize(page.len(), seed as i64);
            seeds.differences(all, &self.bits);
            key.places(all, page);
        }
        for (column, values) in columns.iter_mut().zip(values) {
            for page in values.chunks(PAGE) {
                self.bits.clear();
                self.bits.extend(page.iter().map(|v| v.to_bits() as i64));
                column.doubles(Rows { rows: page.len(), valid: None }, &self.bits);
            }
        }
        let mut dictionaries = vec![Dictionary::None; self.columns.len()];
        dictionaries[1] = Dictionary::Texts(subjects.iter().map(Name::as_str).collect());
        self.file.group(&mut self.columns, &dictionaries)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Writing fails.
    pub fn end(self) -> io::Result<W> {
        self.file.end(&self.columns)
    }
}
