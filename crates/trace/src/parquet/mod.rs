//! Parquet writer by row groups: flat columns, texts and small numbers by dictionary, other numbers as differences.
//!
//! Source: `README.md`, `Encodings.md` and `parquet.thrift` of apache/parquet-format. The general crate `parquet` took several times
//! as long; Arrow, polars and DuckDB read the files back in tests/test_trace.py.

mod pages;
#[cfg(test)]
mod tests;
mod thrift;

use std::cell::RefCell;
use std::io::{self, Write};
use thrift::Struct;
use zstd_safe::CCtx;

/// Type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Boolean.
    Bool,
    /// 32-bit integers.
    Int32,
    /// 64-bit integers.
    Int64,
    /// Unsigned 64-bit integers.
    Unsigned,
    /// Floating-point numbers.
    Double,
    /// Texts from a list.
    Text,
}

impl Kind {
    /// Number of the physical type.
    const fn physical(&self) -> i32 {
        match self {
            Self::Bool => 0,
            Self::Int32 => 1,
            Self::Int64 | Self::Unsigned => 2,
            Self::Double => 5,
            Self::Text => 6,
        }
    }
}

const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DELTA_BINARY_PACKED: i32 = 5;
const RLE_DICTIONARY: i32 = 8;
const ZSTD: i32 = 6;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
/// Converted type of unsigned numbers.
const UINT_64: i32 = 14;

const MAGIC: &[u8; 4] = b"PAR1";

/// Rows of a page and their validity bits; `None` if all have a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// Number of rows.
    pub(crate) rows: usize,
    /// One bit per row, the lowest first, and the number of set bits.
    pub(crate) valid: Option<(&'a [u8], usize)>,
}

/// A column under construction.
#[derive(Debug)]
pub(crate) struct Column {
    name: &'static str,
    kind: Kind,
    optional: bool,
    /// Pages with their headers.
    data: Vec<u8>,
    rows: usize,
    /// Uncompressed bytes of `data`.
    raw: usize,
    /// Used encodings, one bit each.
    encodings: u16,
    /// Smallest and largest value, for columns with statistics.
    range: Option<(i64, i64)>,
    /// Body of the current page.
    body: Vec<u8>,
    packed: Vec<u8>,
    /// True if pages are compressed.
    packs: bool,
    /// True if a page could not be compressed.
    failed: bool,
}

impl Column {
    /// Creates an empty column.
    pub(crate) fn new(name: &'static str, kind: Kind, optional: bool) -> Self {
        let (data, body, packed) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, kind, optional, data, rows: 0, raw: 0, encodings: 0, range: None, body, packed, packs: true, failed: false }
    }

    /// Returns the column without compression, for numbers without repetition.
    pub(crate) fn unpacked(self) -> Self {
        Self { packs: false, ..self }
    }

    fn begin(&mut self, rows: Rows<'_>) {
        self.body.clear();
        if self.optional {
            let (bits, there) = rows.valid.unwrap_or((&[], rows.rows));
            pages::levels(&mut self.body, bits, rows.rows, there);
        }
    }

    fn end(&mut self, rows: usize, encoding: i32) {
        self.encodings |= 1 << encoding;
        self.rows += rows;
        let raw = self.body.len();
        let packed = if self.packs { pack(&self.body, &mut self.packed) } else { Some(raw) };
        self.failed |= packed.is_none();
        let packed = packed.unwrap_or(0);
        let before = self.data.len();
        header(&mut self.data, DATA_PAGE, raw, packed, |page| {
            page.inner(5, |p| {
                p.i32(1, rows as i32).i32(2, encoding).i32(3, RLE).i32(4, RLE);
            });
        });
        self.raw += raw + self.data.len() - before;
        self.data.extend_from_slice(if self.packs { &self.packed[..packed] } else { &self.body });
    }

    /// Adds a page of integers as differences. `values`: of the rows with a value.
    pub(crate) fn differences(&mut self, rows: Rows<'_>, values: &[i64]) {
        self.begin(rows);
        pages::delta(&mut self.body, values);
        self.end(rows.rows, DELTA_BINARY_PACKED);
    }

    /// Adds a page of integers as differences, with the range of values for readers.
    pub(crate) fn with_range(&mut self, rows: Rows<'_>, values: &[i64]) {
        let (least, most) = values.iter().fold((i64::MAX, i64::MIN), |(least, most), &v| (least.min(v), most.max(v)));
        if least <= most {
            self.range = Some(self.range.map_or((least, most), |(l, m)| (l.min(least), m.max(most))));
        }
        self.differences(rows, values);
    }

    /// Adds a page of indices into the dictionary passed to `write`.
    pub(crate) fn places(&mut self, rows: Rows<'_>, values: &[u32]) {
        self.begin(rows);
        pages::indices(&mut self.body, values);
        self.end(rows.rows, RLE_DICTIONARY);
    }

    /// Adds a page of booleans, 1 or 0.
    pub(crate) fn bits(&mut self, rows: Rows<'_>, values: &[u32]) {
        self.begin(rows);
        pages::bits(&mut self.body, values);
        self.end(rows.rows, PLAIN);
    }

    /// Adds a page of floating-point numbers, given by their bits.
    pub(crate) fn doubles(&mut self, rows: Rows<'_>, values: &[i64]) {
        self.begin(rows);
        self.body.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self.end(rows.rows, PLAIN);
    }
}

/// Compression level: the fastest with entropy coding.
const LEVEL: i32 = 1;

thread_local! {
    /// Compression context, whose creation takes longer than compressing a page.
    static PACKER: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
}

/// Compresses `body` to the front of `out`; returns the length, or none without memory.
fn pack(body: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let most = zstd_safe::compress_bound(body.len());
    if out.len() < most {
        out.resize(most, 0);
    }
    PACKER.with_borrow_mut(|packer| packer.compress(out.as_mut_slice(), body, LEVEL)).ok()
}

fn header(out: &mut Vec<u8>, kind: i32, raw: usize, packed: usize, more: impl FnOnce(&mut Struct<'_>)) {
    let mut page = Struct::new(out);
    page.i32(1, kind).i32(2, raw as i32).i32(3, packed as i32);
    more(&mut page);
    page.end();
}

/// Dictionary of a column.
#[derive(Clone, Debug)]
pub(crate) enum Dictionary<'a> {
    /// No dictionary.
    None,
    /// Texts.
    Texts(Vec<&'a str>),
    /// Numbers.
    Numbers(&'a [i32]),
}

impl Dictionary<'_> {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Texts(texts) => texts.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    fn body(&self) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Texts(texts) => texts.iter().flat_map(|t| [&(t.len() as u32).to_le_bytes(), t.as_bytes()].concat()).collect(),
            Self::Numbers(numbers) => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        }
    }
}

/// Position of a column of a row group in the file, and its contents.
struct Placed {
    dictionary: Option<i64>,
    data: i64,
    raw: i64,
    packed: i64,
    rows: usize,
    encodings: u16,
    range: Option<(i64, i64)>,
}

/// Writer of a file.
pub(crate) struct Writer<W> {
    out: W,
    at: i64,
    groups: Vec<Vec<Placed>>,
    scratch: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Creates a file.
    ///
    /// # Errors
    /// Writing fails.
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, at: MAGIC.len() as i64, groups: Vec::new(), scratch: Vec::new() })
    }

    /// Writes these columns, which have the same number of rows, as a row group, and empties them.
    ///
    /// # Errors
    /// Writing fails.
    pub(crate) fn group(&mut self, columns: &mut [Column], dictionaries: &[Dictionary<'_>]) -> io::Result<()> {
        if columns.iter().any(|c| c.failed) {
            return Err(unpackable());
        }
        let (mut placed, mut head) = (Vec::new(), Vec::new());
        for (column, dictionary) in columns.iter().zip(dictionaries) {
            let begin = self.at;
            let (mut raw, mut first) = (column.raw as i64, None);
            if column.encodings & 1 << RLE_DICTIONARY != 0 {
                let body = dictionary.body();
                let packed = pack(&body, &mut self.scratch).ok_or_else(unpackable)?;
                head.clear();
                header(&mut head, DICTIONARY_PAGE, body.len(), packed, |page| {
                    page.inner(7, |p| {
                        p.i32(1, dictionary.len() as i32).i32(2, PLAIN);
                    });
                });
                self.out.write_all(&head)?;
                self.out.write_all(&self.scratch[..packed])?;
                raw += (head.len() + body.len()) as i64;
                first = Some(self.at);
                self.at += (head.len() + packed) as i64;
            }
            self.out.write_all(&column.data)?;
            let (data, packed) = (self.at, self.at + column.data.len() as i64 - begin);
            let Column { rows, encodings, range, .. } = *column;
            placed.push(Placed { dictionary: first, data, raw, packed, rows, encodings, range });
            self.at += column.data.len() as i64;
        }
        if placed.first().is_some_and(|p| p.rows > 0) {
            self.groups.push(placed);
        }
        for column in columns {
            column.data.clear();
            (column.rows, column.raw, column.encodings, column.range) = (0, 0, 0, None);
        }
        Ok(())
    }

    /// Completes the file, which has these columns.
    ///
    /// # Errors
    /// Writing fails.
    pub(crate) fn end(mut self, columns: &[Column]) -> io::Result<W> {
        let mut foot = Vec::new();
        footer(&mut foot, columns, &self.groups);
        self.out.write_all(&foot)?;
        self.out.write_all(&(foot.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        Ok(self.out)
    }
}

/// Writes a file of these columns, which have the same number of rows, in one row group, and empties them.
///
/// # Errors
/// Writing fails.
pub(crate) fn write(out: &mut impl Write, columns: &mut [Column], dictionaries: &[Dictionary<'_>]) -> io::Result<()> {
    let mut file = Writer::new(out)?;
    file.group(columns, dictionaries)?;
    file.end(columns).map(|_| ())
}

fn unpackable() -> io::Error {
    io::Error::other("a page cannot be compressed")
}

fn footer(out: &mut Vec<u8>, columns: &[Column], groups: &[Vec<Placed>]) {
    let mut file = Struct::new(out);
    file.i32(1, 2);
    // The root, then its columns.
    let schema: Vec<Option<&Column>> = std::iter::once(None).chain(columns.iter().map(Some)).collect();
    file.structs(2, &schema, |s, column| match column {
        None => {
            s.bytes(4, b"schema").i32(5, columns.len() as i32);
        }
        Some(c) => {
            s.i32(1, c.kind.physical()).i32(3, i32::from(c.optional)).bytes(4, c.name.as_bytes());
            if c.kind == Kind::Text {
                // UTF8, in the older and in the newer notation.
                s.i32(6, 0).inner(10, |logical| {
                    logical.inner(1, |_| {});
                });
            } else if c.kind == Kind::Unsigned {
                s.i32(6, UINT_64);
            }
        }
    });
    let rows = |group: &[Placed]| group.first().map_or(0, |p| p.rows) as i64;
    file.i64(3, groups.iter().map(|g| rows(g)).sum());
    file.structs(4, groups, |group, placed| {
        let chunks: Vec<(&Column, &Placed)> = columns.iter().zip(placed).collect();
        group.structs(1, &chunks, |chunk, (column, placed)| {
            chunk.i64(2, 0).inner(3, |meta| describe(meta, column, placed));
        });
        let raw = placed.iter().map(|p| p.raw).sum();
        group.i64(2, raw).i64(3, rows(placed));
    });
    file.bytes(6, concat!("fairlane ", env!("CARGO_PKG_VERSION")).as_bytes());
    // Numbers are compared as numbers, texts by their bytes: without this order readers ignore the statistics.
    file.structs(7, columns, |order, _| {
        order.inner(1, |_| {});
    });
    file.end();
}

fn describe(meta: &mut Struct<'_>, c: &Column, p: &Placed) {
    let mut encodings: Vec<i32> = (0..16).filter(|e| p.encodings & 1 << e != 0).collect();
    encodings.push(RLE);
    if p.dictionary.is_some() && !encodings.contains(&PLAIN) {
        encodings.push(PLAIN);
    }
    meta.i32(1, c.kind.physical()).i32s(2, &encodings).texts(3, &[c.name]).i32(4, if c.packs { ZSTD } else { UNCOMPRESSED });
    meta.i64(5, p.rows as i64).i64(6, p.raw).i64(7, p.packed).i64(9, p.data);
    if let Some(at) = p.dictionary {
        meta.i64(11, at);
    }
    if let Some((least, most)) = p.range {
        meta.inner(12, |s| {
            s.i64(3, 0).bytes(5, &most.to_le_bytes()).bytes(6, &least.to_le_bytes());
            s.bool(7, true).bool(8, true);
        });
    }
}
