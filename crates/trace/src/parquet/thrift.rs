//! Thrift's compact protocol, as needed for the metadata of Parquet files.
//!
//! Source: `doc/specs/thrift-compact-protocol.md` of Apache Thrift.

use crate::varint::{varint, zigzag};

/// Types of fields and list elements.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct under construction, with fields in rising order.
pub(super) struct Struct<'a> {
    out: &'a mut Vec<u8>,
    last: i16,
}

impl<'a> Struct<'a> {
    pub(super) const fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: 0 }
    }

    fn field(&mut self, id: i16, kind: u8) {
        let step = id - self.last;
        if (1..16).contains(&step) {
            self.out.push((step as u8) << 4 | kind);
        } else {
            self.out.push(kind);
            varint(self.out, zigzag(id.into()));
        }
        self.last = id;
    }

    pub(super) fn bool(&mut self, id: i16, value: bool) -> &mut Self {
        self.field(id, if value { TRUE } else { FALSE });
        self
    }

    pub(super) fn i32(&mut self, id: i16, value: i32) -> &mut Self {
        self.field(id, I32);
        varint(self.out, zigzag(value.into()));
        self
    }

    pub(super) fn i64(&mut self, id: i16, value: i64) -> &mut Self {
        self.field(id, I64);
        varint(self.out, zigzag(value));
        self
    }

    pub(super) fn bytes(&mut self, id: i16, value: &[u8]) -> &mut Self {
        self.field(id, BINARY);
        varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
        self
    }

    pub(super) fn inner(&mut self, id: i16, fill: impl FnOnce(&mut Struct<'_>)) -> &mut Self {
        self.field(id, STRUCT);
        let mut inner = Struct::new(self.out);
        fill(&mut inner);
        inner.end();
        self
    }

    fn list(&mut self, id: i16, len: usize, kind: u8) {
        self.field(id, LIST);
        if len < 15 {
            self.out.push((len as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(self.out, len as u64);
        }
    }

    pub(super) fn structs<T>(&mut self, id: i16, items: &[T], mut fill: impl FnMut(&mut Struct<'_>, &T)) -> &mut Self {
        self.list(id, items.len(), STRUCT);
        for item in items {
            let mut inner = Struct::new(self.out);
            fill(&mut inner, item);
            inner.end();
        }
        self
    }

    pub(super) fn i32s(&mut self, id: i16, items: &[i32]) -> &mut Self {
        self.list(id, items.len(), I32);
        for &item in items {
            varint(self.out, zigzag(item.into()));
        }
        self
    }

    pub(super) fn texts(&mut self, id: i16, items: &[&str]) -> &mut Self {
        self.list(id, items.len(), BINARY);
        for item in items {
            varint(self.out, item.len() as u64);
            self.out.extend_from_slice(item.as_bytes());
        }
        self
    }

    pub(super) fn end(&mut self) {
        self.out.push(0);
    }
}
