//! What threads wait for while they are off the CPU. A thread that sleeps and was given no CPU since
//! the last look is as it was, so that a look at it costs the reading of one small file.

mod family;
mod process;
#[cfg(test)]
mod tests;
mod thread;

pub(crate) use family::Family;
pub(crate) use thread::Change;
