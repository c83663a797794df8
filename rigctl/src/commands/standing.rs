//! A served device as a switch that runs SONiC: its redis, and what stands between that and the device.

use crate::stderr;
use rig_dut::serve::Post;
use rig_dut::standin::{self, Chips, Faults, Scripts, Server, Standin, Ways};
use rig_lab::Profile;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Both of them: the redis ends last, and is none of ours where one was there.
#[derive(Debug)]
pub(super) struct Standing {
    #[expect(dead_code, reason = "held for as long as the device lives")]
    standin: Standin,
    #[expect(dead_code, reason = "held for as long as the device lives")]
    servers: Servers,
}

#[derive(Debug)]
enum Servers {
    #[expect(dead_code, reason = "held for as long as the device lives")]
    One(Option<Server>),
    Several(Chips),
}

impl Servers {
    /// Where the databases of the device are.
    fn own<'s>(&'s self, socket: &'s Path) -> &'s Path {
        match self {
            Servers::One(_) => socket,
            Servers::Several(chips) => chips.own(),
        }
    }
}

impl Standing {
    /// Starts a redis at `socket`, unless one listens there, and fills it with what `profile` declares; or several, of which the device is
    /// the last chip. The device answers at `post`, and its watchdogs decide, or the scripts do.
    ///
    /// # Errors
    /// There is no redis-server, one that is there is not empty, or CONFIG_DB cannot hold what the profile declares.
    pub(super) fn start(
        profile: &Profile,
        (socket, chips): (&Path, Option<u8>),
        post: Post,
        (faults, scripts): (Faults, Option<Scripts>),
    ) -> Result<Standing, String> {
        let servers = match chips {
            Some(count) => Servers::Several(Chips::start(socket, count)?),
            None if UnixStream::connect(socket).is_ok() => Servers::One(None),
            None => Servers::One(Some(Server::start(socket)?)),
        };
        let own = servers.own(socket);
        let log = Box::new(|why: &str| stderr::note(why));
        let device = Box::new(standin::Served::at(post));
        let standin = Standin::of(profile, own, device, Ways { faults, log, scripts })?;
        if let Servers::Several(chips) = &servers {
            chips.fill(profile)?;
        }
        Ok(Standing { standin, servers })
    }
}
