//! Tables as Arrow streams: a schema and one record batch, which polars, pyarrow and pandas read as a whole.
//!
//! Apache Arrow columnar format 1.5, "Encapsulated message format". Numbers of fields and unions are those of its `Message.fbs` and
//! `Schema.fbs`.

use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, UnionWIPOffset, WIPOffset};

/// Values of a column, part after part.
#[derive(Clone, Debug)]
pub enum ArrowValues<'a> {
    /// Text.
    Text(Vec<&'a str>),
    /// Doubles.
    Numbers(Vec<&'a [f64]>),
    /// Whole numbers, each repeated so many times.
    Whole(Vec<(u64, usize)>),
}

/// Multiple to which messages and buffers are filled up.
const ALIGNMENT: usize = 8;
/// Start of a message.
const CONTINUATION: u32 = u32::MAX;
/// `MetadataVersion.V5`.
const V5: i16 = 4;
/// `MessageHeader.Schema`.
const SCHEMA: u8 = 1;
/// `MessageHeader.RecordBatch`.
const RECORD_BATCH: u8 = 3;
/// `Type.Int`.
const INT: u8 = 2;
/// `Type.FloatingPoint`.
const FLOATING_POINT: u8 = 3;
/// `Type.LargeUtf8`.
const LARGE_UTF8: u8 = 20;
/// `Precision.DOUBLE`.
const DOUBLE: i16 = 2;

type Builder = FlatBufferBuilder<'static>;

/// Place of a field in the vtable of its table.
const fn slot(field: u16) -> u16 {
    4 + 2 * field
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

/// A stream, ready to be written.
#[derive(Debug)]
pub struct ArrowStream<'a> {
    columns: Vec<(&'a str, ArrowValues<'a>)>,
    /// Both messages without the body of the second.
    head: Vec<u8>,
    body: usize,
}

impl<'a> ArrowStream<'a> {
    /// Creates the stream of a table whose columns all have `rows` values.
    pub fn new(columns: Vec<(&'a str, ArrowValues<'a>)>, rows: usize) -> Self {
        let mut head = Vec::new();
        message(&mut head, SCHEMA, 0, |f| schema(f, &columns));
        let mut buffers = Vec::new();
        let mut body = 0;
        for (_, values) in &columns {
            // No validity bitmap: every row has a value.
            for bytes in std::iter::once(0).chain(values.buffers(rows)) {
                buffers.extend([body as i64, bytes as i64]);
                body += padded(bytes);
            }
        }
        let nodes: Vec<i64> = columns.iter().flat_map(|_| [rows as i64, 0]).collect();
        message(&mut head, RECORD_BATCH, body, |f| {
            let (nodes, buffers) = (pairs(f, &nodes), pairs(f, &buffers));
            let start = f.start_table();
            f.push_slot_always(slot(0), rows as i64);
            f.push_slot_always(slot(1), nodes);
            f.push_slot_always(slot(2), buffers);
            f.end_table(start)
        });
        Self { columns, head, body }
    }

    /// Number of bytes.
    pub fn size(&self) -> usize {
        self.head.len() + self.body + END.len()
    }

    /// Writes the stream into a place of [`Self::size`] zero bytes.
    pub fn write(&self, place: &mut [u8]) {
        let mut out = Writer { place, at: 0 };
        out.put(&self.head);
        for (_, values) in &self.columns {
            match values {
                ArrowValues::Text(texts) => {
                    let mut end = 0_i64;
                    out.put(&end.to_le_bytes());
                    for text in texts {
                        end += text.len() as i64;
                        out.put(&end.to_le_bytes());
                    }
                    texts.iter().for_each(|text| out.put(text.as_bytes()));
                }
                ArrowValues::Numbers(parts) => parts.iter().copied().flatten().for_each(|x| out.put(&x.to_le_bytes())),
                ArrowValues::Whole(runs) => {
                    runs.iter().for_each(|&(x, times)| (0..times).for_each(|_| out.put(&x.to_le_bytes())));
                }
            }
            out.at = padded(out.at - self.head.len()) + self.head.len();
        }
        out.put(&END);
    }
}

/// End of a stream.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

struct Writer<'p> {
    place: &'p mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        if let Some(place) = self.place.get_mut(self.at..self.at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.at += bytes.len();
    }
}

impl ArrowValues<'_> {
    /// Sizes of the buffers behind the validity bitmap.
    fn buffers(&self, rows: usize) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::Text(texts) => ((rows + 1) * 8, Some(texts.iter().map(|t| t.len()).sum())),
            Self::Numbers(_) | Self::Whole(_) => (rows * 8, None),
        };
        std::iter::once(first).chain(second)
    }
}

/// Appends a message: its size, and a `Message` with this header.
fn message(out: &mut Vec<u8>, kind: u8, body: usize, header: impl FnOnce(&mut Builder) -> WIPOffset<TableFinishedWIPOffset>) {
    let mut f = Builder::new();
    let header = header(&mut f);
    let start = f.start_table();
    f.push_slot_always(slot(3), body as i64);
    f.push_slot_always(slot(2), header);
    f.push_slot_always(slot(0), V5);
    f.push_slot_always(slot(1), kind);
    let root = f.end_table(start);
    f.finish_minimal(root);
    let data = f.finished_data();
    out.extend(CONTINUATION.to_le_bytes());
    out.extend((padded(data.len()) as u32).to_le_bytes());
    out.extend(data);
    out.resize(padded(out.len()), 0);
}

/// `Schema` with a `Field` for each column.
fn schema(f: &mut Builder, columns: &[(&str, ArrowValues<'_>)]) -> WIPOffset<TableFinishedWIPOffset> {
    let no_children: WIPOffset<_> = {
        f.start_vector::<WIPOffset<UnionWIPOffset>>(0);
        f.end_vector::<WIPOffset<UnionWIPOffset>>(0)
    };
    let fields: Vec<WIPOffset<TableFinishedWIPOffset>> = columns
        .iter()
        .map(|(name, values)| {
            let name = f.create_string(name);
            let start = f.start_table();
            let kind = match values {
                ArrowValues::Text(_) => LARGE_UTF8,
                ArrowValues::Numbers(_) => {
                    f.push_slot_always(slot(0), DOUBLE);
                    FLOATING_POINT
                }
                ArrowValues::Whole(_) => {
                    f.push_slot_always(slot(0), 64_i32);
                    f.push_slot_always(slot(1), false);
                    INT
                }
            };
            let own = f.end_table(start);
            let start = f.start_table();
            f.push_slot_always(slot(0), name);
            f.push_slot_always(slot(3), own);
            f.push_slot_always(slot(5), no_children);
            f.push_slot_always(slot(1), false);
            f.push_slot_always(slot(2), kind);
            f.end_table(start)
        })
        .collect();
    let fields = f.create_vector(&fields);
    let start = f.start_table();
    f.push_slot_always(slot(1), fields);
    f.end_table(start)
}

/// Vector of structs of two 64-bit numbers: `FieldNode` (length, null count) or `Buffer` (offset, length).
fn pairs(f: &mut Builder, numbers: &[i64]) -> WIPOffset<flatbuffers::Vector<'static, i64>> {
    f.start_vector::<i64>(numbers.len());
    numbers.iter().rev().for_each(|&n| _ = f.push(n));
    f.end_vector(numbers.len() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    /// The frame of the format: continuation, size, metadata; then body; all in eights. Python tests read the contents.
    #[test]
    fn messages_and_buffers_are_aligned() {
        let (a, b) = ([1.5, 2.5], [f64::NAN]);
        let columns = vec![
            ("seed", ArrowValues::Whole(vec![(7, 2), (8, 1)])),
            ("name", ArrowValues::Text(vec!["x", "", "yz"])),
            ("value", ArrowValues::Numbers(vec![&a, &b])),
        ];
        let stream = ArrowStream::new(columns, 3);
        let mut out = vec![0; stream.size()];
        stream.write(&mut out);
        assert_eq!(word(&out, 0), u32::MAX as usize);
        let second = 8 + word(&out, 4);
        assert_eq!((second % 8, word(&out, second)), (0, u32::MAX as usize));
        let body = second + 8 + word(&out, second + 4);
        assert_eq!(body % 8, 0);
        let numbers = |at: usize, n: usize| (0..n).map(|i| word(&out, at + 8 * i)).collect::<Vec<_>>();
        assert_eq!(numbers(body, 3), [7, 7, 8]);
        assert_eq!(numbers(body + 24, 4), [0, 1, 1, 3]);
        assert_eq!(&out[body + 56..body + 64], b"xyz\0\0\0\0\0");
        assert_eq!(f64::from_le_bytes(out[body + 64..body + 72].try_into().unwrap()), 1.5);
        assert_eq!(out[out.len() - 8..], END);
        assert_eq!(out.len(), body + 64 + 24 + 8);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let stream = ArrowStream::new(vec![("name", ArrowValues::Text(Vec::new()))], 0);
        let mut out = vec![0; stream.size()];
        stream.write(&mut out);
        assert_eq!(out[out.len() - 8..], END);
    }
}
