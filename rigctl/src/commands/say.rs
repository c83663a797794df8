//! `rigctl dut say`: what a person at a stand-in's shell is answered.

use super::input::Bad;
use crate::cli::SayArgs;
use crate::{stderr, stdout};
use rig_dut::standin::{Faults, spoken};
use rig_lab::RedisAt;
use rig_reports::Exit;

/// Prints what the command prints.
///
/// # Errors
/// Another place than a socket.
pub fn say(args: &SayArgs) -> Result<Exit, Bad> {
    let RedisAt::Unix(socket) = &args.redis else {
        let why = "a stand-in's redis listens at a socket of this machine";
        return Err(Bad::of(format!("`--redis {}`: {why}\n   = want: unix:PATH", args.redis)));
    };
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    match spoken(socket, &words, &Faults::of(&args.fault)) {
        Ok(text) => {
            stdout::text(&text);
            Ok(Exit::Passed)
        }
        Err(why) => {
            stderr::line(&why);
            // As click ends a command that is typed otherwise than it takes.
            Ok(if why.starts_with("Usage: ") { Exit::Input } else { Exit::Failed })
        }
    }
}
