//! One unmodified program at a NIC as the server, and the rig as its client: the rig asks, and goes on when it is answered.

use crate::guest::HwCounters;
use crate::peer::{FrameTap, OpenWay, Station};
use crate::perftest::{
    Destination, GREETINGS, Messages, Opening, READY, Rate, greet, in_gigabits, part,
};
use crate::session::{Came, FIRST_QP, PORT, RigEnd, ends, first_psn, rig_end};
use crate::toward::is_over;
use crate::{GuestFault, Perftest, PerftestHost};
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
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
        let told = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                of(format!("it said nothing for {} s", ANSWERS.as_secs()))
            }
            _ => of(error.to_string()),
        };
        let mut line = TcpStream::connect_timeout(&at, ANSWERS).map_err(told)?;
        let set = line.set_nodelay(true).and_then(|()| line.set_read_timeout(Some(ANSWERS)));
        set.map_err(told)?;
        let messages = self.messages()?;
        let opening = Opening::of_rig(messages.mtu);
        let pairs = (FIRST_QP..).take(messages.pairs.into()).map(Qpn::new);
        let pairs: Option<Vec<Qpn>> = pairs.collect();
        let pairs = pairs.ok_or_else(|| of("no queue pair is left".to_owned()))?;
        let ours = pairs.iter().map(|qpn| rig_end((*qpn, first_psn(*qpn)), own, 1));
        let ours: Vec<Destination> = ours.collect();
        let meet = |ours: &Destination, theirs: &Destination| {
            let says = self.says(theirs, false).map_err(io::Error::other)?;
            let ends = ends((ours.qpn, own), &opening, theirs);
            station.meet(ends, self.conduct.clone(), Some(says)).map_err(io::Error::other)
        };
        greet(&mut line, &opening, (&ours, if self.is_told() { READY } else { GREETINGS }), meet)
            .map_err(told)?;
        let clock = Wall::start();
        for qpn in &pairs {
            station.ready(*qpn).map_err(|fault| fault.to_string())?;
        }
        self.listen(station, (&line, pairs.len())).map_err(of)?;
        let rate = self.is_told().then(|| self.rate(messages, clock.now().since(Time::ZERO)));
        if self.hangs_up() {
            return Ok(());
        }
        line.set_nonblocking(false).and_then(|()| part(&mut line, &ours[0], rate)).map_err(told)
    }

    /// What came at its server, and how fast: all that was asked, from the first until the last was answered.
    fn rate(&self, of: Messages, took: Option<Dur>) -> Rate {
        let (size, messages) = (u64::from(of.size), of.count * u64::from(of.pairs));
        let gigabits = in_gigabits(&self.flags);
        // Numbers for people to read.
        let seconds = took.unwrap_or_default().0.max(1) as f64 / Dur::s(1).0 as f64;
        let each = messages as f64 / seconds;
        let bytes = each * size as f64;
        let rate = if gigabits { bytes * 8.0 / 1e9 } else { bytes / f64::from(1 << 20) };
        Rate { size, messages, rate, rate_of_messages: each / 1e6 }
    }

    /// Waits until all is said on so many connections.
    fn listen(
        &self,
        station: &Station,
        (line, mut connections): (&TcpStream, usize),
    ) -> Result<(), String> {
        let clock = Wall::start();
        let patience = Dur::ms(u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX));
        while connections > 0 {
            // Where it is over its last frames are on the way.
            let over = is_over(line);
            if station.waits(if over { LOOKS * 2 } else { LOOKS }).is_some() {
                connections -= 1;
            } else if over {
                return Err("it ended before all was said".to_owned());
            } else if clock.now() > Time::ZERO + patience {
                return Err("its time was over before all was said".to_owned());
            }
        }
        Ok(())
    }
}
