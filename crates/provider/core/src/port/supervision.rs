//! What those who run the provider look at and do, beside what [`super::operations`] has. Nothing here is on the way of a
//! message.

mod names;
mod overview;
mod pauses;
mod waiting_rows;

pub use names::Names;
pub use overview::{Due, EndpointStates, Overview, TaskCount};
pub use pauses::{Pause, Pauses};
pub use waiting_rows::{WaitingFor, WaitingRows};

/// All of it; part of [`super::Store`].
pub trait Supervision: Names + Overview + Pauses + WaitingRows {}

impl<T: Names + Overview + Pauses + WaitingRows + ?Sized> Supervision for T {}
