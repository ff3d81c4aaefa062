//! What those who run the provider look at and do, beside what [`super::operations`] has. Nothing here is on the way of a
//! message.

mod names;
mod overview;
mod pauses;
mod waiting_rows;

pub use names::UidLookupStore;
pub use overview::{DueEndpoint, EndpointStates, InstallationStore, TaskCount};
pub use pauses::{Pause, PauseStore};
pub use waiting_rows::{WaitingCounts, WaitingDeliveryStore};

/// All of it; part of [`super::Store`].
pub trait OperatorStore: UidLookupStore + InstallationStore + PauseStore + WaitingDeliveryStore {}

impl<T: UidLookupStore + InstallationStore + PauseStore + WaitingDeliveryStore + ?Sized> OperatorStore for T {}
