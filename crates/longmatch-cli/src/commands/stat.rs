//! stub
use crate::args::StatArgs;
use crate::error::{Outcome, Status};
/// stub
pub fn run(_: &StatArgs) -> Outcome {
    Ok(Status::Ok)
}
