//! Schedulers: who stores packets and says which leaves next.

pub(crate) mod fifo;
