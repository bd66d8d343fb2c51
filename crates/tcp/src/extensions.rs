//! What most endpoints do not have, behind one pointer: both ends of plain NewReno over ten thousands of links need none of it.

use crate::cwv::Cwv;
use crate::fast_open::Opening;
use crate::hold::Held;
use crate::pacer::Pacer;
use crate::prr::Reducer;
use crate::rack::Rack;
use crate::undo::Doubt;
use std::ops::{Deref, Range};

/// State that belongs to one option each.
#[derive(Clone, Debug)]
pub(crate) struct More {
    /// Proportional rate reduction.
    pub(crate) prr: Option<Box<Reducer>>,
    /// RACK and the tail loss probe.
    pub(crate) rack: Option<Box<Rack>>,
    pub(crate) pacer: Pacer,
    /// The loss event that may prove a mistake, where anything could prove it.
    pub(crate) doubt: Option<Box<Doubt>>,
    /// What the application uses of the window.
    pub(crate) cwv: Option<Box<Cwv>>,
    /// A control at this node lets nothing out.
    pub(crate) held: Option<Box<Held>>,
    /// Fast Open, where it is in use.
    pub(crate) opening: Option<Box<Opening>>,
    /// Ends of new segments that count as sent before, see `vegas_send_table`.
    pub(crate) unforgotten: Option<Box<[Range<u64>; 2]>>,
}

impl More {
    /// Nothing.
    pub(crate) const NONE: Self =
        Self { prr: None, rack: None, pacer: Pacer::IDLE, doubt: None, cwv: None, held: None, opening: None, unforgotten: None };

    fn is_some(&self) -> bool {
        let Self { prr, rack, pacer: _, doubt, cwv, held, opening, unforgotten } = self;
        let parts =
            [prr.is_some(), rack.is_some(), doubt.is_some(), cwv.is_some(), held.is_some(), opening.is_some(), unforgotten.is_some()];
        parts.contains(&true)
    }
}

/// [`More`] where there is any; it is read as if it lay here.
#[derive(Clone, Debug)]
pub(crate) struct Extras(Option<Box<More>>);

impl Extras {
    /// What an endpoint begins with.
    pub(crate) fn of(more: More) -> Self {
        Self(more.is_some().then(|| Box::new(more)))
    }
    /// To be changed, where there is any.
    #[inline]
    pub(crate) fn part<'a, T>(&'a mut self, of: impl FnOnce(&'a mut More) -> Option<T>) -> Option<T> {
        self.0.as_deref_mut().and_then(of)
    }
    /// To be changed: from here on there is some.
    #[inline]
    pub(crate) fn make(&mut self) -> &mut More {
        self.0.get_or_insert_with(first)
    }
}

#[cold]
fn first() -> Box<More> {
    Box::new(More::NONE)
}

impl Deref for Extras {
    type Target = More;
    #[inline]
    fn deref(&self) -> &More {
        const NONE: &More = &More::NONE;
        self.0.as_deref().unwrap_or(NONE)
    }
}
