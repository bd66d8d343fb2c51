//! Hops: where a packet is on its route, and the values that end a route.

/// Flag of a hop-table entry that ends a route; the packet knows its endpoint.
pub(crate) const END: u32 = 1 << 31;
/// No endpoint: the packet is still in the network, or gone.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// First hop of every endpoint in a world with dynamic routes: there [`crate::Packet::hop`] counts the links itself.
pub(crate) const COUNTED: u32 = u32::MAX;
/// Bits of the place in a hop of a dynamic route; the bits above count the links crossed.
const PLACE_BITS: u32 = 26;
/// Number of places that a hop can distinguish.
pub(crate) const PLACES: u32 = 1 << PLACE_BITS;
/// Largest count of links in a hop; it stays there.
const MOST_LINKS: u32 = 63;

/// Number of links of a hop of a dynamic route, including the one that the packet waits for or is on.
pub(crate) fn links(hop: u32) -> u32 {
    hop >> PLACE_BITS
}

/// Place of a hop of a dynamic route.
pub(crate) fn place(hop: u32) -> u32 {
    hop & (PLACES - 1)
}

/// Hop behind `hop`, at `place`, one link further.
#[inline]
pub(crate) fn next(hop: u32, place: u32) -> u32 {
    (links(hop) + 1).min(MOST_LINKS) << PLACE_BITS | place
}
