//! A served device as a switch that runs SONiC: its redis, and what stands between that and the device.

use crate::stderr;
use rig_dut::serve::Post;
use rig_dut::standin::{self, Faults, Scripts, Server, Standin, Ways};
use rig_lab::Profile;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Both of them: the redis ends last, and is none of ours where one was there.
#[derive(Debug)]
pub(super) struct Standing {
    #[expect(dead_code, reason = "held for as long as the device lives")]
    standin: Standin,
    #[expect(dead_code, reason = "held for as long as the device lives")]
    server: Option<Server>,
}

impl Standing {
    /// Starts a redis at `socket`, unless one listens there, and fills it with what `profile` declares. The device answers at `post`, and
    /// its watchdogs decide, or the scripts do.
    ///
    /// # Errors
    /// There is no redis-server, one that is there is not empty, or CONFIG_DB cannot hold what the profile declares.
    pub(super) fn start(
        profile: &Profile,
        socket: &Path,
        post: Post,
        (faults, scripts): (Faults, Option<Scripts>),
    ) -> Result<Standing, String> {
        let server = match UnixStream::connect(socket) {
            Ok(_) => None,
            Err(_) => Some(Server::start(socket)?),
        };
        let log = Box::new(|why: &str| stderr::note(why));
        let device = Box::new(standin::Served::at(post));
        let standin = Standin::of(profile, socket, device, Ways { faults, log, scripts })?;
        Ok(Standing { standin, server })
    }
}
