//! Optional state behind one pointer: plain NewReno needs none of it, which matters with tens of thousands of flows.

use crate::cwv::Cwv;
use crate::fast_open::FastOpenState;
use crate::hold::DeferredActions;
use crate::pacer::Pacer;
use crate::prr::PrrState;
use crate::rack::Rack;
use crate::undo::UndoState;
use crate::vegas_state::VegasState;
use std::ops::Deref;

/// Optional state, one field per option.
#[derive(Clone, Debug)]
pub(crate) struct Extensions {
    /// Proportional rate reduction.
    pub(crate) prr: Option<Box<PrrState>>,
    /// RACK and the tail loss probe.
    pub(crate) rack: Option<Box<Rack>>,
    pub(crate) pacer: Pacer,
    /// Latest loss event, if it can be undone.
    pub(crate) undo: Option<Box<UndoState>>,
    /// Congestion window validation.
    pub(crate) cwv: Option<Box<Cwv>>,
    /// Present while a flow controller or a full device holds the sender.
    pub(crate) held: Option<Box<DeferredActions>>,
    /// TCP Fast Open.
    pub(crate) fast_open: Option<Box<FastOpenState>>,
    pub(crate) vegas: Option<Box<VegasState>>,
}

impl Extensions {
    /// No extension.
    pub(crate) const NONE: Self =
        Self { prr: None, rack: None, pacer: Pacer::IDLE, undo: None, cwv: None, held: None, fast_open: None, vegas: None };

    fn is_some(&self) -> bool {
        let Self { prr, rack, pacer: _, undo, cwv, held, fast_open, vegas } = self;
        let parts = [prr.is_some(), rack.is_some(), undo.is_some(), cwv.is_some(), held.is_some(), fast_open.is_some(), vegas.is_some()];
        parts.contains(&true)
    }
}

/// [`Extensions`], allocated if there is one, and read as an empty one otherwise.
#[derive(Clone, Debug)]
pub(crate) struct LazyExtensions(Option<Box<Extensions>>);

impl LazyExtensions {
    /// Allocates the state if any option has some.
    pub(crate) fn of(ext: Extensions) -> Self {
        Self(ext.is_some().then(|| Box::new(ext)))
    }
    /// Returns the state of an option for a change, if there is one.
    #[inline]
    pub(crate) fn get_mut<'a, T>(&'a mut self, of: impl FnOnce(&'a mut Extensions) -> Option<T>) -> Option<T> {
        self.0.as_deref_mut().and_then(of)
    }
    /// Returns the extensions for a change; allocates them if there are none.
    #[inline]
    pub(crate) fn get_or_create(&mut self) -> &mut Extensions {
        self.0.get_or_insert_with(empty)
    }
}

#[cold]
fn empty() -> Box<Extensions> {
    Box::new(Extensions::NONE)
}

impl Deref for LazyExtensions {
    type Target = Extensions;
    #[inline]
    fn deref(&self) -> &Extensions {
        const NONE: &Extensions = &Extensions::NONE;
        self.0.as_deref().unwrap_or(NONE)
    }
}
