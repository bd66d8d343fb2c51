//! Time series of a run, read by column or by time span, and written as a file.

use crate::output::Table;
use fairlane_net::{Cursor, Instants, Recording};
use fairlane_trace::SeriesFile;
use fairlane_units::Name;
use std::fs::File;
use std::io;
use std::path::Path;

/// Numbers per group of rows, which is in memory while a file is written.
const GROUP: usize = 1 << 21;

/// Time series with one row per instant and flow or link.
#[derive(Clone, Debug)]
pub struct SeriesTable {
    /// Name of the column with the subjects.
    pub key: &'static str,
    /// Subjects, in the order of the rows of an instant.
    pub subjects: Vec<Name>,
    /// Number of subjects per instant, and number of successive instants with that many.
    pub spans: Vec<(usize, usize)>,
    /// Recording, including subjects without a name.
    kept: Recording,
    /// Which subjects have a name, if some have none.
    named: Option<Vec<bool>>,
}

impl SeriesTable {
    /// Creates a table of the subjects that have a name.
    pub(crate) fn new(key: &'static str, kept: Recording, names: &[Option<&str>]) -> Self {
        let named: Vec<Option<&str>> = kept.subjects.iter().map(|&i| names[i as usize]).collect();
        let subjects = named.iter().flatten().map(|&name| name.into()).collect();
        let spans = kept.spans.iter().map(|&(count, instants)| (named[..count].iter().flatten().count(), instants)).collect();
        let there: Vec<bool> = named.iter().map(Option::is_some).collect();
        Self { key, subjects, spans, kept, named: there.contains(&false).then_some(there) }
    }

    /// Names of the number columns.
    pub fn names(&self) -> &[&'static str] {
        &self.kept.names
    }

    /// Values of a column; `None` if there is no such column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.kept.column(name)?;
        let Some(named) = &self.named else { return Some(column) };
        let instants = self.kept.spans.iter().flat_map(|&(count, instants)| std::iter::repeat_n(&named[..count], instants));
        Some(column.into_iter().zip(instants.flatten()).filter(|(_, there)| **there).map(|(x, _)| x).collect())
    }

    /// The whole series as a table, with the name of its subject in each row.
    pub fn table(&self) -> Table {
        let instants = self.spans.iter().flat_map(|&(count, instants)| std::iter::repeat_n(&self.subjects[..count], instants));
        let named = instants.flatten().cloned().collect();
        let numbers = self.names().iter().filter_map(|name| Some((*name, self.column(name)?)));
        Table { text: vec![(self.key, named)], numbers: numbers.collect() }
    }

    /// Reads the next instants of some columns, by their numbers in `names`: at most `most` rows, but at least one instant. Returns `None` at the end.
    pub fn next(&self, cursor: &mut Cursor, columns: &[usize], most: usize) -> Option<SeriesRows> {
        let Instants { rows, mut columns } = self.kept.next(cursor, columns, most)?;
        let Some(named) = &self.named else {
            let subjects = rows.iter().flat_map(|&n| 0..n as u32).collect();
            return Some(SeriesRows { subjects, columns });
        };
        let there = |n: usize| named[..n].iter().copied();
        for column in &mut columns {
            let mut keep = rows.iter().flat_map(|&n| there(n));
            column.retain(|_| keep.next().unwrap_or(false));
        }
        let subjects = rows.iter().flat_map(|&n| 0..there(n).filter(|t| *t).count() as u32).collect();
        Some(SeriesRows { subjects, columns })
    }
}

/// Some rows of a series.
#[derive(Clone, Debug)]
pub struct SeriesRows {
    /// Subject of each row, by index.
    pub subjects: Vec<u32>,
    /// Values of each column.
    pub columns: Vec<Vec<f64>>,
}

/// Writes the series of several runs into one Parquet file.
pub struct SeriesWriter {
    file: SeriesFile<File>,
    /// All columns of all runs, in order of appearance.
    names: Vec<&'static str>,
    /// Number of finished runs, and the position in the next one.
    done: usize,
    cursor: Cursor,
}

impl SeriesWriter {
    /// Creates a file; `None` if nothing was sampled.
    ///
    /// # Errors
    /// Writing fails.
    pub fn new(path: &Path, runs: &[(u64, &SeriesTable)]) -> io::Result<Option<Self>> {
        let Some((_, first)) = runs.iter().find(|(_, run)| run.spans.iter().any(|(rows, _)| *rows > 0)) else { return Ok(None) };
        let mut names: Vec<&'static str> = Vec::new();
        for name in runs.iter().flat_map(|(_, run)| run.names()) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let file = SeriesFile::new(File::create(path)?, first.key, &names)?;
        Ok(Some(Self { file, names, done: 0, cursor: Cursor::default() }))
    }

    /// Writes one more group of rows; false if all are written.
    ///
    /// # Errors
    /// Writing the file failed.
    pub fn more(&mut self, runs: &[(u64, &SeriesTable)]) -> io::Result<bool> {
        let Some(&(seed, run)) = runs.get(self.done) else { return Ok(false) };
        let own = run.names();
        let columns: Vec<usize> = (0..own.len()).collect();
        let Some(SeriesRows { subjects: rows, columns: mut values }) = run.next(&mut self.cursor, &columns, GROUP / own.len().max(1))
        else {
            (self.done, self.cursor) = (self.done + 1, Cursor::default());
            return Ok(true);
        };
        if own != self.names {
            // A column that this run lacks becomes NaN.
            let of = |name| own.iter().position(|n| *n == name);
            values = self.names.iter().map(|name| of(*name).map_or_else(|| vec![f64::NAN; rows.len()], |i| values[i].clone())).collect();
        }
        self.file.group(seed, &run.subjects, &rows, &values)?;
        Ok(true)
    }

    /// Completes the file on the disk.
    ///
    /// # Errors
    /// Writing fails.
    pub fn end(self) -> io::Result<()> {
        self.file.end()?.sync_all()
    }
}
