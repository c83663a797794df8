//! One unmodified program of latency at a NIC as the server, and the rig as its client: the rig asks, and goes on when it is answered.

use crate::guest::HwCounters;
use crate::peer::{FrameTap, OpenWay, Station};
use crate::perftest::{Destination, Opening, greet, part};
use crate::session::{Came, FIRST_PSN, FIRST_QP, PORT, RigEnd, ends, rig_end};
use crate::toward::is_over;
use crate::{GuestFault, Perftest, PerftestHost};
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use rig_frames::psn::Psn;
use rig_frames::roce::Qpn;
use rig_generator::clock::{Clock as _, Wall};
use rig_units::{Dur, Time};
use std::io;
use std::net::{SocketAddr, TcpStream};

/// How long the server may take to answer.
const ANSWERS: Duration = Duration::from_secs(20);
/// How often it is looked whether it is still there.
const LOOKS: Duration = Duration::from_millis(100);

impl Perftest {
    /// Runs it at `host`, whose program is the server: the rig is the client.
    ///
    /// # Errors
    /// A host that is lost; a port of the rig that breaks; a server that does not come to listen.
    pub fn run_as_client(
        &self,
        host: &mut dyn PerftestHost,
        record: FrameTap,
    ) -> Result<Came, GuestFault> {
        let before = host.counters()?;
        let nic = host.address()?;
        let RigEnd { namespace, interface, own, nic: flags, .. } = host.way(self.over)?;
        let listens = self.served(host, &flags)?;
        let station = Station::start(&namespace, &interface, own, (record, Box::new(OpenWay)));
        let station = match station {
            Ok(station) => station,
            Err(fault) => {
                listens.finished(host, false)?;
                return Err(fault);
            }
        };
        let asked = namespace.run(|| self.ask(&station, (own, nic)));
        let asked = asked.map_err(|error| error.to_string()).and_then(|asked| asked);
        let ran = listens.ended(host, asked.is_ok())?;
        let passed = station.finish()?;
        let counters = HwCounters { before, after: host.counters()? };
        let unfinished = asked.err().or_else(|| passed.refused());
        Ok(Came { ran, passed, counters, other: None, unfinished })
    }

    /// The rig's side of the exchange, and all that it has to say in between.
    fn ask(&self, station: &Station, (own, nic): (IpAddr, Ipv4Addr)) -> Result<(), String> {
        let at = SocketAddr::new(IpAddr::V4(nic), PORT);
        let of = |why: String| format!("perftest's server at {at}: {why}");
        let told = |error: io::Error| of(error.to_string());
        let mut line = TcpStream::connect_timeout(&at, ANSWERS).map_err(told)?;
        let set = line.set_nodelay(true).and_then(|()| line.set_read_timeout(Some(ANSWERS)));
        set.map_err(told)?;
        let mtu = self.messages()?.mtu;
        let opening = Opening::of_rig(mtu);
        let qpn = Qpn::new(FIRST_QP).ok_or_else(|| of("no queue pair is left".to_owned()))?;
        let ours = rig_end((qpn, Psn::new(FIRST_PSN)), own, 1);
        let meet = |theirs: &Destination| {
            let says = self.says(theirs, false).map_err(io::Error::other)?;
            let ends = ends((qpn, own), &opening, theirs);
            station.meet(ends, self.conduct.clone(), Some(says)).map_err(io::Error::other)
        };
        greet(&mut line, &opening, (&ours, true), meet).map_err(told)?;
        station.ready(qpn).map_err(|fault| fault.to_string())?;
        self.listen(station, &line).map_err(of)?;
        if self.hangs_up() {
            return Ok(());
        }
        line.set_nonblocking(false).and_then(|()| part(&mut line, &ours)).map_err(told)
    }

    /// Waits until all is said.
    fn listen(&self, station: &Station, line: &TcpStream) -> Result<(), String> {
        let clock = Wall::start();
        let patience = Dur::ms(u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX));
        loop {
            if station.waits(LOOKS).is_some() {
                return Ok(());
            }
            if is_over(line) {
                // Its last frames are on the way.
                let last = station.waits(LOOKS * 2);
                return last.map(drop).ok_or_else(|| "it ended before all was said".to_owned());
            }
            if clock.now() > Time::ZERO + patience {
                return Err("its time was over before all was said".to_owned());
            }
        }
    }
}
