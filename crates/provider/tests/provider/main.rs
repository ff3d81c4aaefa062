//! The provider over a real store and real sockets: use cases and the way of a message.

mod delivery;
mod faults;
mod messages;
mod pace;
mod receiver;
mod set_up;
mod stage;
